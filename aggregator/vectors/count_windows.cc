#include "aggregator/vectors/count_windows.h"

#include <algorithm>
#include <utility>

#include "common/saved/archive.h"

namespace l4::vectors {
namespace {

void put_number(std::vector<std::uint8_t>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<std::uint8_t>(value | 0x80U));
  out.push_back(static_cast<std::uint8_t>(value));
}

std::uint64_t take_number(const std::uint8_t*& at, const std::uint8_t* end) {
  if (at != end && *at < 0x80) return *at++;  // nearly all
  std::uint64_t value = 0;
  for (unsigned shift = 0; at != end && shift < 64; shift += 7) {
    const std::uint8_t byte = *at++;
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80U) == 0) break;
  }
  return value;
}

/// Adds `more` to `cells`; both ascend by event.
void add_cells(std::vector<Cell>& cells, std::span<const Cell> more) {
  const std::size_t known = cells.size();
  for (const Cell& cell : more) {
    const auto end = cells.begin() + static_cast<std::ptrdiff_t>(known);
    const auto at = std::ranges::lower_bound(cells.begin(), end, cell.event, {}, &Cell::event);
    if (at != end && at->event == cell.event)
      at->count += cell.count;
    else
      cells.push_back(cell);
  }
  std::ranges::inplace_merge(cells, cells.begin() + static_cast<std::ptrdiff_t>(known), {},
                             &Cell::event);
}

}  // namespace

void CountWindows::unpack(const Window& window, std::vector<Cell>& cells) {
  cells.clear();
  const std::uint8_t* at = window.packed.data();
  const std::uint8_t* end = at + window.packed.size();
  std::uint64_t event = 0;
  while (at != end) {
    event += take_number(at, end);
    cells.push_back({static_cast<std::uint32_t>(event), take_number(at, end)});
  }
}

void CountWindows::pack(Window& window, std::span<const Cell> cells) {
  packed_ -= window.packed.size();
  window.packed.clear();
  std::uint32_t before = 0;
  for (const Cell& cell : cells) {
    put_number(window.packed, cell.event - std::exchange(before, cell.event));
    put_number(window.packed, cell.count);
  }
  packed_ += window.packed.size();
}

CountWindows::Window& CountWindows::at(std::int64_t window) {
  auto at = std::ranges::upper_bound(windows_, window, {}, &Window::first);
  if (at != windows_.begin() && span_of(*std::prev(at)).end > window) return *std::prev(at);
  return *windows_.insert(at, {window, 0, {}});
}

void CountWindows::add(std::int64_t window, std::span<const Cell> cells) {
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  if (cells.empty() || window < -kFar || window > kFar) return;
  Window& known = at(window);
  unpack(known, scratch_);
  add_cells(scratch_, cells);
  pack(known, scratch_);
  if (windows_.size() > fold_at_) fold();
  if (bytes() > kBytesMax) shrink();
}

void CountWindows::forget(const std::vector<std::uint32_t>& events) {
  for (Window& window : windows_) {
    unpack(window, scratch_);
    const auto gone = std::erase_if(
        scratch_, [&](const Cell& cell) { return std::ranges::binary_search(events, cell.event); });
    if (gone > 0) pack(window, scratch_);
  }
  std::erase_if(windows_, [](const Window& window) { return window.packed.empty(); });
}

std::uint8_t CountWindows::level_of(const Window& window, std::int64_t newest) const {
  std::uint8_t level = window.level;
  for (; level < kLevelMax; ++level) {
    const std::int64_t width = std::int64_t{2} << level;
    const std::int64_t end = ((window.first >> (level + 1)) + 1) * width;
    if (end + static_cast<std::int64_t>(per_level_) * (width / 2) > newest) break;
  }
  return level;
}

void CountWindows::fold() {
  const std::int64_t newest = span_of(windows_.back()).end;
  std::vector<Window> folded;
  std::vector<Cell> cells;
  for (Window& window : windows_) {
    const std::uint8_t level = level_of(window, newest);
    window.first = (window.first >> level) << level;
    window.level = level;
    if (folded.empty() || span_of(folded.back()).end <= window.first) {
      folded.push_back(std::move(window));
      continue;
    }
    unpack(folded.back(), cells);
    unpack(window, scratch_);
    add_cells(cells, scratch_);
    packed_ -= window.packed.size();
    pack(folded.back(), cells);
  }
  windows_ = std::move(folded);
  fold_at_ = windows_.size() + per_level_;
}

/// Fewer windows of each width, then none of the oldest.
void CountWindows::shrink() {
  for (; bytes() > kBytesMax && per_level_ > kPerLevelLeast; fold()) per_level_ /= 2;
  while (bytes() > kBytesMax && windows_.size() > 1) {
    const auto old = windows_.begin() + static_cast<std::ptrdiff_t>(windows_.size() / 2);
    for (auto window = windows_.begin(); window != old; ++window) packed_ -= window->packed.size();
    windows_.erase(windows_.begin(), old);
  }
}

template <class Archive, class Self>
void CountWindows::persist(Archive& archive, Self& self) {
  archive(self.per_level_, self.fold_at_);
  archive.list(self.windows_, 3, [&](auto& window) {
    archive(window.first);
    archive(window.level);
    archive.list(window.packed, 1, [&](auto& byte) { archive(byte); });
  });
  if constexpr (Archive::kLoads) {
    archive.require(self.per_level_ >= kPerLevelLeast && self.per_level_ <= kPerLevel);
    std::int64_t end = -(std::int64_t{1} << 61);
    self.packed_ = 0;
    for (const Window& window : self.windows_) {
      self.packed_ += window.packed.size();
      archive.require(window.level <= kLevelMax && window.first >= end &&
                      window.first <= (std::int64_t{1} << 60));
      end = span_of(window).end;
    }
  }
}

void CountWindows::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void CountWindows::load(ByteReader& in) {
  saved::Reader archive(in);
  persist(archive, *this);
}

}  // namespace l4::vectors
