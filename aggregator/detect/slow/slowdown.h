// Whether iterations have become slower, since which one, and which rank's own phases grew.
//
// Place in the flow: a JobView and its clock in, one Slowdown out. Pure. A shift counts when the
// typical iteration after it is at least `ratio_min` times the typical one before, the shift stands
// out of the scatter (robust z of ln duration, docs/DESIGN.md, "Slowness"), and it lasts. A smaller
// shift must last longer, since a busy host or disk passes. Where only some iterations take longer
// (a link loses packets, a disk stutters), the typical one may stay as it was: then the part of
// long iterations counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::slow {

struct Options {
  double ratio_min = 1.3;
  double z_min = 5.0;
  double ratio_max = 10;        ///< a larger ratio is another kind of work and no slowness
  std::size_t before_min = 10;  ///< iterations needed on either side
  std::size_t after_min = 5;
  std::size_t usual_share = 8;     ///< the usual pace is that of one iteration in so many, at least
  double passing_ratio_min = 1.5;  ///< a slow phase that is over must be at least this much slower
  std::size_t passing_min = 8;     ///< such a phase lasts at least this many iterations
  Millis lasting{8'000};           ///< least time at ratio 2; scaled by the square of ln(ratio)
  double long_ratio = 1.4;       ///< a long iteration takes at least so many times as long as usual
  double long_share_min = 0.33;  ///< part of the iterations that are long where only some are,
  double long_share_rise = 0.3;  ///< and how much larger that part is than before
  std::size_t long_min = 10;     ///< iterations needed since they are
  double drag_share_min = 0.2;   ///< part of the slowdown that a dragging rank must explain
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
  Iteration first{0};        ///< first slow iteration
  Iteration last{0};         ///< last slow iteration; the newest if it lasts
  std::optional<TimeMs> since;
  double before_ms = 0, after_ms = 0;
  double ratio = 1;
  std::vector<Drag> drags;  ///< most telling first
};

Slowdown find_slowdown(const job::JobView& view, const job::JobClock& clock,
                       const Options& options = {});

}  // namespace l4::detect::slow
