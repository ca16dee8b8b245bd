// Durations of the phases of iterations, as the ranks print them: whose phase stands out.
//
// Place in the flow: timers of a JobView's streams in; a stall's culprit and phases that slowed
// for good out. Pure. A rank is compared with its own past and with the same phase of its peers, so
// that neither a role nor a job-wide change stands out. Phases in which a rank waits for others are
// left out. Besides the timers that lines print, the time until a rank's first line of an iteration
// is a phase without a name. Bounds: a stall reads kPastMax iterations before it of each stream; at
// most kCellsMax values are compared for slow phases, from iterations spread evenly.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/detect/delay/delays.h"
#include "aggregator/job/laps.h"
#include "aggregator/job/numbered.h"
#include "aggregator/numbers/delay.h"
#include "common/base/ids.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::delay {

inline constexpr std::size_t kPastMax = 16, kCellsMax = 400'000;

/// The phase that took the time of a stall.
struct Holdup {
  std::string phase;                  ///< empty: the time until the first line
  std::optional<std::uint32_t> rank;  ///< null: the same phase grew on most ranks
  double ms = 0, usual_ms = 0;
  bool own = false;  ///< the lines say that the rank works in it, or its peers were quick
};

/// Which phase explains that `iteration` took `excess_ms` longer than usual; empty if none does.
std::optional<Holdup> find_holdup(const job::JobView& view, const job::NumberedStreams& numbered,
                                  const std::vector<job::Stamps>& stamps, Iteration iteration,
                                  double excess_ms);

/// As in force: aggregator/numbers/delay.h says what each number means.
struct PhaseOptions {
  double ratio_min = numbers::delay().phase_ratio_min;
  double growth_min_ms = numbers::delay().phase_growth_min_ms;
  double sigmas_min = numbers::delay().phase_sigmas_min;
  double share_min = numbers::delay().phase_share_min;
  double longest = numbers::delay().phase_longest;
  std::size_t before_min = numbers::delay().phase_before_min;
  std::size_t after_min = numbers::delay().phase_after_min;
};

/// Phases that take longer from some iteration on up to the end, on few ranks. Most telling first.
std::vector<Delay> find_slow_phases(const job::JobView& view, double iteration_ms,
                                    const PhaseOptions& options = {});

}  // namespace l4::detect::delay
