#include "aggregator/scores/rows.h"

#include <algorithm>
#include <utility>

namespace l4::scores {

Columns columns_over(std::int64_t first, std::int64_t end, std::size_t width, std::int64_t unit) {
  Columns columns{first, std::max(first, end), unit};
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(width, 1));
  const std::int64_t units = (columns.end - columns.first + unit - 1) / unit;
  columns.step = std::max<std::int64_t>(1, (units + most - 1) / most) * unit;
  return columns;
}

void WorstRows::offer(const std::vector<Score>& cells, const std::function<void(Row&)>& name) {
  Kept offered;
  std::uint64_t largest = 0, sum = 0;
  for (const Score score : cells) {
    if (score == kUnknown) continue;
    largest = std::max<std::uint64_t>(largest, score);
    sum += score;
  }
  offered.weight = (largest << 32U) | sum;
  offered.order = offered_++;
  if (kept_.size() >= most_) {
    if (most_ == 0 || !is_worse(offered, kept_.front())) return;
    std::ranges::pop_heap(kept_, is_worse);
    kept_.pop_back();
  }
  offered.row.cells = cells;
  name(offered.row);
  kept_.push_back(std::move(offered));
  std::ranges::push_heap(kept_, is_worse);
}

void WorstRows::finish(Matrix& matrix) {
  std::ranges::sort_heap(kept_, is_worse);
  for (Kept& kept : kept_) matrix.rows.push_back(std::move(kept.row));
  matrix.left_out = offered_ - kept_.size();
}

}  // namespace l4::scores
