// The numbers that decide in aggregator/diagnose/findings.
//
// Place in the flow: each is a row of [number.findings] in config/scoring.toml, which has its
// bounds and where it is from; a site may put others in force (table.h). Read by all threads,
// written by none. In brackets stands the unit.
#pragma once

#include <cstddef>

#include "aggregator/numbers/in_force.h"
#include "common/base/time.h"

namespace l4::numbers {

struct Findings {
  /// [blanks] of a heading
  std::ptrdiff_t heading_blanks_max = 5;
  /// [ms] a lost agent's node was silent before this after the job's last progress
  Millis lost_settle{2000};
};

inline const Findings& findings() {
  return in_force<Findings>;
}

}  // namespace l4::numbers
