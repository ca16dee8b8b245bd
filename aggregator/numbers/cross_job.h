// The numbers that decide in aggregator/detect/cross_job.
//
// Place in the flow: each is a row of [number.cross_job] in config/scoring.toml, which has its
// bounds and where it is from; a site may put others in force (table.h). Read by all threads,
// written by none. In brackets stands the unit.
#pragma once

#include "aggregator/numbers/in_force.h"

namespace l4::numbers {

struct CrossJob {
  /// [sigmas] least excess of a count over healthy runs
  double excess_min = 6;
  /// [times] least count over the largest expectation
  double ratio_min = 3;
};

inline const CrossJob& cross_job() {
  return in_force<CrossJob>;
}

}  // namespace l4::numbers
