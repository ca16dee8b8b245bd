// The numbers that decide in aggregator/detect/stage.
//
// Place in the flow: each is a row of [number.stage] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include <cstdint>

#include "aggregator/numbers/in_force.h"
#include "common/base/time.h"

namespace l4::numbers {

struct Stage {
  /// [ms] clocks of nodes differ, and a launcher may see the end before the last line is
  /// written
  Millis tolerance{2000};
  /// [lines] that a process says behind its end, at most
  std::uint64_t last_lines = 32;
};

inline const Stage& stage() {
  return in_force<Stage>;
}

}  // namespace l4::numbers
