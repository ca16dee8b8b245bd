#include "aggregator/vectors/tally.h"

#include <algorithm>
#include <utility>

namespace l4::vectors {
namespace {

/// One cell for each event, ascending.
void join_cells(std::vector<Cell>& cells) {
  std::ranges::sort(cells, {}, &Cell::event);
  std::size_t kept = 0;
  for (const Cell& cell : cells)
    if (kept > 0 && cells[kept - 1].event == cell.event)
      cells[kept - 1].count += cell.count;
    else
      cells[kept++] = cell;
  cells.resize(kept);
}

}  // namespace

void Tally::Slot::count(Cell cell) {
  if (next == cells.size()) next = 0;
  if (next == cells.size() || cells[next].event != cell.event) {
    next = cells.size();
    cells.push_back({cell.event, 0});
  }
  cells[next++].count += cell.count;
}

void Tally::note(const WindowOf& of, Cell cell) {
  for (std::size_t i = used_; i > 0; --i)
    if (slots_[i - 1].of == of) return slots_[i - 1].count(cell);
  if (used_ == slots_.size()) slots_.emplace_back();
  Slot& added = slots_[used_++];
  added.of = of;
  added.segment = segment_;
  added.cells.assign(1, cell);
  added.next = 1;
}

void Tally::sort() {
  const std::span<Slot> noted(slots_.data(), used_);
  std::ranges::sort(noted, {},
                    [](const Slot& slot) { return std::pair(slot.segment, slot.of.window); });
  for (Slot& slot : noted) join_cells(slot.cells);
}

}  // namespace l4::vectors
