// Counts of one node's events in windows of a job's life: fine for the newest past, coarser the
// longer ago.
//
// Place in the flow: aggregator/job adds the counts of each segment; detect/spatial compares nodes
// by them (the paper, 5.3.1, forms one vector a node over the whole job; a node's own past and the
// order of changes need windows). Windows are numbered from 0 at some origin, each as wide as the
// caller says. Around the newest window each of them is kept; before these, two are joined to one,
// then four, and so on: `kPerLevel` of each width, so memory grows with the logarithm of the job's
// length. A joined window begins at a multiple of its width. The result does not depend on the
// order in which windows are filled, but for how far they are joined already. Beyond `kBytesMax`
// fewer windows of each width are kept. One owner, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/base/byte_stream.h"

namespace l4::vectors {

/// Count of one event in one window.
struct Cell {
  std::uint32_t event = 0;  ///< LocalTemplateId
  std::uint64_t count = 0;
  bool operator==(const Cell&) const = default;
};

/// Windows [first, end) counted as one.
struct Span {
  std::int64_t first = 0, end = 0;
  bool operator==(const Span&) const = default;
};

class CountWindows {
 public:
  static constexpr std::size_t kPerLevel = 16, kPerLevelLeast = 4;
  static constexpr std::size_t kBytesMax = 32 * 1024;  ///< 2,000 nodes: 64 MB

  /// `cells` ascend by event. Windows beyond 2^60 are left out.
  void add(std::int64_t window, std::span<const Cell> cells);

  /// Drops all counts of these events (ascending).
  void forget(const std::vector<std::uint32_t>& events);

  /// Calls visit(Span, std::span<const Cell>) for each window with counts, ascending; the cells
  /// ascend by event and are valid during the call.
  template <class Visit>
  void visit(Visit visit) const {
    std::vector<Cell> cells;
    for (const Window& window : windows_) {
      unpack(window, cells);
      visit(span_of(window), std::span<const Cell>(cells));
    }
  }

  bool empty() const { return windows_.empty(); }
  std::size_t size() const { return windows_.size(); }
  /// Of the counts and their windows, as kept.
  std::size_t bytes() const { return windows_.size() * sizeof(Window) + packed_; }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  struct Window {
    std::int64_t first = 0;
    std::uint8_t level = 0;  ///< it is 2^level windows wide
    std::vector<std::uint8_t> packed;
  };
  static constexpr std::uint8_t kLevelMax = 40;

  static Span span_of(const Window& window) {
    return {window.first, window.first + (std::int64_t{1} << window.level)};
  }
  static void unpack(const Window& window, std::vector<Cell>& cells);
  void pack(Window& window, std::span<const Cell> cells);
  /// The window that holds this number, a new one if there is none.
  Window& at(std::int64_t window);
  std::uint8_t level_of(const Window& window, std::int64_t newest) const;
  void fold();
  void shrink();
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);

  std::vector<Window> windows_;  // ascending, without overlap
  std::size_t per_level_ = kPerLevel;
  std::size_t fold_at_ = 2 * kPerLevel;  // number of windows
  std::size_t packed_ = 0;               // bytes of all windows
  std::vector<Cell> scratch_;
};

}  // namespace l4::vectors
