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
#include "aggregator/numbers/delay.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::delay {

/// As in force: aggregator/numbers/delay.h says what each number means.
struct LateOptions {
  double late_min_ms = numbers::delay().late_min_ms;
  double sigmas_min = numbers::delay().late_sigmas_min;
  double scatter_max_ms = numbers::delay().late_scatter_max_ms;
  std::size_t ranks_min = numbers::delay().late_ranks_min;
};

/// Latest first.
std::vector<Delay> find_late_starts(const job::JobView& view, const LateOptions& options = {});

}  // namespace l4::detect::delay
