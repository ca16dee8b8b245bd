// The latest rows of all streams, in the order in which they came.
//
// Place in the flow: StreamTable keeps rows here; learning and the replay of its rows read them.
// Memory grows by blocks as rows come, so that none is moved; when `most` rows are there, a new one
// takes the place of the oldest. One owner. Bound: `most` rows.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <ranges>
#include <type_traits>
#include <vector>

#include "aggregator/flows/record.h"

namespace l4::flows {

/// A record that counts, in the form in which it is kept.
struct Row {
  TimeNs start = 0, end = 0;
  std::uint64_t bytes = 0;
  std::uint32_t stream = 0, packets = 0;
};

/// Memory for many plain values that are written once, one after another. Whoever touches new
/// memory pays for each of its pages, here as much as for all else that is done with a row; so the
/// kernel is asked for pages of 2 MiB where there is so much. Values are not initialized.
template <class Value>
class LargeArray {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  explicit LargeArray(std::size_t capacity) : values_(allocate(capacity * sizeof(Value))) {}

  Value* data() { return values_.get(); }
  const Value* data() const { return values_.get(); }
  Value& operator[](std::size_t index) { return values_.get()[index]; }
  const Value& operator[](std::size_t index) const { return values_.get()[index]; }

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20;
  struct Free {
    void operator()(Value* values) const { std::free(values); }
  };

  static Value* allocate(std::size_t bytes) {
    const bool is_large = bytes >= kPage;
    const std::size_t whole =
        is_large ? (bytes + kPage - 1) / kPage * kPage : std::max(bytes, sizeof(Value));
    void* const memory = is_large ? std::aligned_alloc(kPage, whole) : std::malloc(whole);
    if (memory == nullptr) throw std::bad_alloc();
    // Advice: where it is not taken, pages are small.
    if (is_large) static_cast<void>(::madvise(memory, whole, MADV_HUGEPAGE));
    return static_cast<Value*>(memory);
  }

  std::unique_ptr<Value, Free> values_;
};

class RowStore {
 public:
  explicit RowStore(std::size_t most) : most_(std::max<std::size_t>(1, most)) {}

  void push(const Row& row) {
    ++pushed_;
    if (size_ == most_) {
      blocks_[oldest_ / kBlock][oldest_ % kBlock] = row;
      oldest_ = oldest_ + 1 == size_ ? 0 : oldest_ + 1;
      return;
    }
    if (size_ % kBlock == 0) blocks_.emplace_back(std::min(kBlock, most_));
    blocks_.back()[size_++ % kBlock] = row;
  }
  std::size_t size() const { return size_; }
  /// All that ever came.
  std::uint64_t pushed() const { return pushed_; }
  /// The row that came `index`-th of those that are kept.
  const Row& operator[](std::size_t index) const {
    std::size_t place = oldest_ + index;
    if (place >= size_) place -= size_;
    return blocks_[place / kBlock][place % kBlock];
  }

 private:
  static constexpr std::size_t kBlock = 1 << 16;  // 2 MiB

  std::size_t most_, size_ = 0, oldest_ = 0;
  std::uint64_t pushed_ = 0;
  std::vector<LargeArray<Row>> blocks_;
};

/// Stable order by ends. Collectors write records nearly in this order: then it costs a few moves
/// a row. Rows are a range of Row, or of anything else with `end`.
template <class Rows>
void sort_by_end(Rows&& rows) {
  using One = std::ranges::range_value_t<Rows>;
  constexpr std::size_t kMovesEach = 64;
  std::size_t moves = rows.size() * kMovesEach;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i - 1].end <= rows[i].end) continue;
    const One moved = rows[i];
    std::size_t wide = 1;  // the place is found in steps that double, then by halves
    while (wide < i && rows[i - wide].end > moved.end) wide *= 2;
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(i - std::min(i, wide));
    const auto at = std::ranges::upper_bound(
        first, rows.begin() + static_cast<std::ptrdiff_t>(i - wide / 2), moved.end, {}, &One::end);
    const auto to = static_cast<std::size_t>(at - rows.begin());
    if (i - to >= moves) {
      std::ranges::stable_sort(rows, {}, &One::end);
      return;
    }
    moves -= i - to;
    std::move_backward(rows.begin() + static_cast<std::ptrdiff_t>(to),
                       rows.begin() + static_cast<std::ptrdiff_t>(i),
                       rows.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    rows[to] = moved;
  }
}

}  // namespace l4::flows
