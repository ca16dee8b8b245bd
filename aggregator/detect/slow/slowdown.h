// Whether iterations have become slower, since which one, and which rank's own phases grew.
//
// Place in the flow: a JobView and its clock in, one Slowdown out. Pure. A shift counts when the
// typical iteration after it is at least `ratio_min` times the typical one before, the shift stands
// out of the scatter (robust z of ln duration, docs/DESIGN.md, "Slowness"), and it lasts. A smaller
// shift must last longer, since a busy host or disk passes. Where only some iterations take longer
// (a link loses packets, a disk stutters), the typical one may stay as it was: then the part of
// long iterations counts. Where times scatter too much to tell, rates that lines print confirm a
// shift of the typical iteration. Where only each n-th iteration is printed, the step in which the
// shift began took between the one and the other, and that tells in which iteration it did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/numbers/slow.h"
#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::slow {

/// As in force: aggregator/numbers/slow.h says what each number means.
struct Options {
  double ratio_min = numbers::slow().ratio_min;
  double z_min = numbers::slow().z_min;
  double ratio_max = numbers::slow().ratio_max;
  std::size_t before_min = numbers::slow().before_min;
  std::size_t after_min = numbers::slow().after_min;
  std::size_t usual_share = numbers::slow().usual_share;
  double passing_ratio_min = numbers::slow().passing_ratio_min;
  std::size_t passing_min = numbers::slow().passing_min;
  Millis lasting = numbers::slow().lasting;
  double long_ratio = numbers::slow().long_ratio;
  double long_share_min = numbers::slow().long_share_min;
  double long_share_rise = numbers::slow().long_share_rise;
  std::size_t long_min = numbers::slow().long_min;
  double drag_share_min = numbers::slow().drag_share_min;
  std::size_t rare_before_min = numbers::slow().rare_before_min;
  std::size_t rare_after_min = numbers::slow().rare_after_min;
  double rare_ratio_min = numbers::slow().rare_ratio_min;
};

/// A rank whose own work (not waiting) takes longer than that of its peers, after the shift.
struct Drag {
  std::uint32_t rank = 0;  ///< index into JobView::ranks
  std::string timer;
  double before_ms = 0, after_ms = 0;
  double score = 0;  ///< growth beyond the growth of the median rank, in ms
};

struct Slowdown {
  bool found = false;
  bool by_symptoms = false;  ///< found by symptoms, where times alone do not suffice: symptoms.h
  Iteration first{0};        ///< first slow iteration; estimated where not each is printed
  Iteration last{0};         ///< last slow iteration; the newest if it lasts
  std::optional<TimeMs> since;
  /// It may have begun here already, where times scatter; as `first` and `since` if they do not.
  Iteration earliest{0};
  std::optional<TimeMs> earliest_since;
  double before_ms = 0, after_ms = 0;
  double ratio = 1;
  std::vector<Drag> drags;  ///< most telling first
};

/// Rates that lines print (tokens per second) are lower since an iteration.
struct RateFall {
  Iteration first{0};
  double ratio = 1;  ///< how many times lower
};

/// Fewer iterations have a known time than a shift needs before and after it.
bool has_few_ticks(const job::JobClock& clock, const Options& options = {});

Slowdown find_slowdown(const job::JobView& view, const job::JobClock& clock,
                       const Options& options = {}, std::optional<RateFall> rates = {});

}  // namespace l4::detect::slow
