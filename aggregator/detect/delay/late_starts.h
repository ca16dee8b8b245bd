// Ranks that began long after their peers.
//
// Place in the flow: a JobView in, Delays of kind late_start out. Pure. Lines that
// most ranks print once at the start, within seconds of each other, are compared: a rank that comes
// late says nothing before the first of them, is behind in it, and in step in a later one, because
// the others wait for it. A rank that is behind all along has another clock, and one that prints
// none of these lines has another role.
#pragma once

#include <cstddef>
#include <vector>

#include "aggregator/detect/delay/delays.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::delay {

struct LateOptions {
  double late_min_ms = 10'000;
  double sigmas_min = 8;          ///< of the ranks' own scatter
  double scatter_max_ms = 5'000;  ///< of a line that tells something: quarter to three quarters
  std::size_t ranks_min = 3;
};

/// Latest first.
std::vector<Delay> find_late_starts(const job::JobView& view, const LateOptions& options = {});

}  // namespace l4::detect::delay
