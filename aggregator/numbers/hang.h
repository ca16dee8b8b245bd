// The numbers that decide in aggregator/detect/hang.
//
// Place in the flow: each is a row of [number.hang] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/numbers/in_force.h"
#include "common/base/time.h"

namespace l4::numbers {

struct Hang {
  /// [lines] behind the last iteration, of a program that works
  std::uint64_t works_lines_min = 100;
  /// [kinds] of these lines
  std::size_t works_kinds_min = 8;
  /// [iterations] with fewer a program without them may work on
  std::size_t works_ticks_min = 8;
  /// [lines] behind a pause that belong to it, at most
  std::uint64_t pause_end_lines = 2;
  /// [signs] one or two counted ones may belong to the start
  std::size_t counted_signs_min = 3;
  /// [ms] a silence of this length is a hang, whatever the pace of the job
  Millis floor{60'000};
  /// [ms] no shorter silence is a hang
  Millis floor_min{10'000};
  /// [times] between the floors the limit is so many times the largest gap
  double gaps = 30;
};

inline const Hang& hang() {
  return in_force<Hang>;
}

}  // namespace l4::numbers
