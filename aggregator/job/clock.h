// The job clock: which iteration the job was in, when, and how long each took (docs/DESIGN.md, "Job
// clock").
//
// Place in the flow: computed from a JobView; hang, slow, crash and diagnosis read it. Most ranks
// print no iteration line, so the clock follows the ranks that print one. Pure, no state.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::job {

struct JobView;

struct ClockTick {
  Iteration iteration;
  std::optional<TimeMs> first_done, last_done;  ///< when the first and the last rank completed it
  double duration_ms = 0;                       ///< median over streams; 0 if unknown
  std::uint32_t streams = 0;
};

struct JobClock {
  static constexpr std::int64_t kLagMax = 16;

  std::vector<ClockTick> ticks;  ///< ascending
  std::int64_t stride = 1;       ///< numbers between two printed iterations of the densest ranks
  std::vector<std::uint32_t> dense_ranks;  ///< ranks (view index) that print each `stride`-th
  std::optional<Iteration> completed_by_any;
  std::optional<Iteration> first_incomplete;  ///< first that did not complete on every dense rank
  std::optional<TimeMs> last_progress;        ///< last completion of an iteration by any rank
  std::optional<TimeMs> first_progress;
  double gap_max_ms = 0;  ///< largest time between two ticks of the job
  double gap_median_ms = 0;
  bool paced = true;  ///< the gaps above describe the job; false: only that it progresses is known

  /// `last_progress` may have been later: is_dated_loosely() of all streams that tell of it.
  bool loose = false;
  bool rounded = false;  ///< durations are averages over some ticks: stamps are whole seconds
  bool counted = false;  ///< iterations are signs of progress, numbered here: not to be shown

  bool has_iterations() const { return completed_by_any.has_value(); }
  /// Training is synchronous, so a rank whose newest iteration is more than kLagMax strides behind
  /// no longer prints iterations, or counts something else.
  bool is_far_behind(Iteration completed) const {
    return completed_by_any && completed_by_any->value() - completed.value() > kLagMax * stride;
  }
};

JobClock make_clock(const JobView& view);

}  // namespace l4::job
