// Single iterations that took far longer than usual while the job went on.
//
// Place in the flow: a JobView and its clock in, Delays of kind stall out; the report tells of them
// as notable. Pure. Healthy jobs have long iterations, too: the first ones, those with a checkpoint
// or an evaluation, ends of epochs, collections of garbage. They are told by what is printed in
// them, by the stage of some rank, or because they recur evenly; a rank whose own phase took the
// time while that of its peers did not is always told of. Stalls of one phase of one rank are one
// Delay with a count. Bounds: times of at most kStreamsMax streams, at most kStallsMax stalls are
// looked into.
#pragma once

#include <cstddef>
#include <vector>

#include "aggregator/detect/delay/delays.h"
#include "aggregator/numbers/delay.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::delay {

inline constexpr std::size_t kStreamsMax = 256, kStallsMax = 64;

/// As in force: aggregator/numbers/delay.h says what each number means.
struct StallOptions {
  double ratio_min = numbers::delay().stall_ratio_min;
  double excess_min_ms = numbers::delay().stall_excess_min_ms;
  double held_ratio_min = numbers::delay().held_ratio_min;
  double held_excess_min_ms = numbers::delay().held_excess_min_ms;
  std::size_t warm_up = numbers::delay().stall_warm_up;
  std::size_t laps_min = numbers::delay().stall_laps_min;
  double often = numbers::delay().stall_often;
};

/// Most telling first.
std::vector<Delay> find_stalls(const job::JobView& view, const job::JobClock& clock,
                               const StallOptions& options = {});

}  // namespace l4::detect::delay
