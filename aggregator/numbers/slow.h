// The numbers that decide in aggregator/detect/slow.
//
// Place in the flow: each is a row of [number.slow] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/numbers/in_force.h"
#include "common/base/time.h"

namespace l4::numbers {

struct Slow {
  /// [ln] least scatter of the logarithms of durations
  double scatter_floor = 0.02;
  /// [share] of the iterations below the level of a side
  double quantile = 0.25;
  /// [strides] a larger jump of the numbers begins another run
  std::int64_t jump_strides = 256;
  /// [times] numbers printed so much more rarely do not compare
  double print_times = 1.5;
  /// [ln] no iteration adds more to a slow phase: a very long one is a checkpoint
  double phase_clip = 0.7;
  /// [ln] no iteration adds more to a part of long ones
  double long_clip = 1.4;
  /// [times] iterations take at least so many times as long
  double ratio_min = 1.3;
  /// [sigmas] and stand out of their scatter
  double z_min = 5;
  /// [times] a larger ratio is another kind of work and no slowness
  double ratio_max = 10;
  /// [iterations] needed before a shift
  std::size_t before_min = 10;
  /// [iterations] needed since a shift
  std::size_t after_min = 5;
  /// [times] the usual pace is that of one iteration in so many, at least
  std::size_t usual_share = 8;
  /// [times] a slow phase that is over must be at least this much slower
  double passing_ratio_min = 1.5;
  /// [iterations] that such a phase lasts
  std::size_t passing_min = 8;
  /// [share] of a shift: a step of several iterations so near to one side is all of it
  double step_scatter = 0.15;
  /// [times] an iteration's delay that a stamp may be rounded by, at most, to tell its begin
  double rounded_max = 2;
  /// [ms] least time at ratio 2; scaled by the square of ln(ratio)
  Millis lasting{8000};
  /// [times] a long iteration takes at least so many times as long as usual
  double long_ratio = 1.4;
  /// [share] of the iterations that are long where only some are
  double long_share_min = 0.33;
  /// [share] and by how much it is larger than before
  double long_share_rise = 0.3;
  /// [iterations] needed since they are
  std::size_t long_min = 10;
  /// [share] of the slowdown that a dragging rank must explain
  double drag_share_min = 0.2;
  /// [iterations] before the shift in which a symptom may have begun
  int symptom_lead = 3;
  /// [share] of a shift, in logarithms, that healthy runs show, too, makes it usual
  double healthy_share = 0.5;
  /// [lines] of a symptom that sounds like a failure
  std::uint64_t symptom_times_min = 2;
  /// [lines] of one that does not
  std::uint64_t wordless_times_min = 5;
  /// [share] of the slowdown that a node's own work explains
  double symptom_explains = 0.5;
  /// [lines] of a symptom that makes a short slowdown one
  std::uint64_t short_symptom_times_min = 3;
  /// [sigmas] by which a short slowdown stands out
  double short_z_min = 1;
  /// [iterations] needed before a short slowdown
  std::size_t short_before_min = 2;
  /// [iterations] needed since a short slowdown
  std::size_t short_after_min = 2;
  /// [ticks] needed before a shift where ticks are averages of many iterations, printed
  /// rarely
  std::size_t rare_before_min = 4;
  /// [ticks] and since the shift
  std::size_t rare_after_min = 4;
  /// [times] iterations take at least so many times as long
  double rare_ratio_min = 2;
};

inline const Slow& slow() {
  return in_force<Slow>;
}

}  // namespace l4::numbers
