// Counts of a batch, gathered by window before they are added to the vectors of their nodes.
//
// Place in the flow: aggregator/job notes every count of a segment and adds all of a batch at once.
// The ranks of a node report the same windows, each with few counts, and to open a packed window
// costs more than such a count. Windows are added in the order in which they would be without it:
// by segment, then by number. Bounds: the counts of one batch; the memory stays for the next. One
// owner, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aggregator/vectors/count_windows.h"

namespace l4::vectors {

/// A window of one node.
struct WindowOf {
  std::uint32_t node = 0;  ///< the caller's number of the node's vectors
  bool timed = false;      ///< a window of time, not of iterations
  std::int64_t window = 0;
  bool operator==(const WindowOf&) const = default;
};

class Tally {
 public:
  /// Beyond so many windows the caller had better add them: each count looks for its own.
  static constexpr std::size_t kMany = 16;

  /// Counts that follow are those of another segment.
  void next_segment() { ++segment_; }
  /// Ranks print the same events in the same order: a count looks first at the cell behind the one
  /// before, and only what is not there becomes a cell of its own.
  void note(const WindowOf& of, Cell cell);
  std::size_t windows() const { return used_; }

  /// Calls add(const WindowOf&, std::span<const Cell>) once for each window and forgets them; the
  /// cells ascend by event, each event once, and are valid during the call.
  template <class Add>
  void drain(Add add) {
    sort();
    for (std::size_t i = 0; i < used_; ++i)
      add(slots_[i].of, std::span<const Cell>(slots_[i].cells));
    used_ = 0;
  }

 private:
  struct Slot {
    WindowOf of;
    std::uint64_t segment = 0;  ///< the first that counted in the window
    std::vector<Cell> cells;
    std::size_t next = 0;  ///< cell behind the last one that was counted, see note()

    void count(Cell cell);
  };

  void sort();

  std::vector<Slot> slots_;  // of which the first used_ hold counts
  std::size_t used_ = 0;
  std::uint64_t segment_ = 0;
};

}  // namespace l4::vectors
