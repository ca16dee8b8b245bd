// The numbers that decide in aggregator/detect/ending.
//
// Place in the flow: each is a row of [number.ending] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include <cstdint>

#include "aggregator/numbers/in_force.h"
#include "common/base/time.h"

namespace l4::numbers {

struct Ending {
  /// [lines] a batch system's account of a job, or a table of totals, has fewer
  std::uint64_t last_lines = 96;
  /// [ms] the end may be told so long before the last progress
  Millis tolerance{2000};
};

inline const Ending& ending() {
  return in_force<Ending>;
}

}  // namespace l4::numbers
