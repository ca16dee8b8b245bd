// The numbers that decide in aggregator/detect/delay.
//
// Place in the flow: each is a row of [number.delay] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/numbers/in_force.h"

namespace l4::numbers {

struct Delay {
  /// [ms] a late start is later by at least this
  double late_min_ms = 10'000;
  /// [sigmas] and stands out of the ranks' own scatter
  double late_sigmas_min = 8;
  /// [ms] a line tells something if ranks scatter by less: quarter to three quarters
  double late_scatter_max_ms = 5000;
  /// [ranks] are needed to compare starts
  std::size_t late_ranks_min = 3;
  /// [iterations] with a timer before that make its past
  std::size_t timer_past_min = 4;
  /// [iterations] with a first line before that make its past
  std::size_t lead_past_min = 4;
  /// [share] of a stall's excess that a long phase explains
  double holdup_explains = 0.5;
  /// [times] the phase of the rank that held others up is longer than theirs by so much
  double holdup_beyond = 1.1;
  /// [ms] timers may be printed in whole seconds
  double holdup_rounding_ms = 1000;
  /// [parts] at most one of so many values may lie on the other side of a shift
  std::size_t shift_apart_part = 8;
  /// [times] a slow phase takes at least so many times as long as before
  double phase_ratio_min = 1.3;
  /// [ms] and so much longer
  double phase_growth_min_ms = 5;
  /// [sigmas] and stands out of its own scatter
  double phase_sigmas_min = 6;
  /// [share] and by this part of an iteration
  double phase_share_min = 0.03;
  /// [share] a phase takes no more of an iteration
  double phase_longest = 1.2;
  /// [iterations] values before a shift
  std::size_t phase_before_min = 5;
  /// [iterations] values since a shift
  std::size_t phase_after_min = 10;
  /// [iterations] on either side tell what is usual
  std::size_t stall_around = 32;
  /// [strides] a larger jump of the numbers is a start, an epoch or a restart
  std::int64_t stall_jump = 8;
  /// [iterations] at equal distances are something that the job does every so often
  std::size_t even_min = 3;
  /// [parts] a distance is equal if it is off by one of so many parts
  std::int64_t even_off_part = 20;
  /// [percent] of the distances must be equal
  std::int64_t even_percent = 80;
  /// [iterations] are needed to know an ordinary excess
  std::size_t ordinary_min = 40;
  /// [share] an iteration with this part of the excess is as long
  double stall_alike = 0.3;
  /// [iterations] fewer stalls alike are never usual
  double often_min = 3;
  /// [times] a stalled iteration takes at least so many times as long as usual
  double stall_ratio_min = 5;
  /// [ms] and so much longer
  double stall_excess_min_ms = 2000;
  /// [times] the same if one rank's own phase explains it
  double held_ratio_min = 4;
  /// [ms] and so much longer
  double held_excess_min_ms = 1000;
  /// [iterations] the first ones are not looked at
  std::size_t stall_warm_up = 5;
  /// [iterations] are needed to look for stalls
  std::size_t stall_laps_min = 12;
  /// [share] what happens in a larger part of the iterations is usual
  double stall_often = 0.05;
};

inline const Delay& delay() {
  return in_force<Delay>;
}

}  // namespace l4::numbers
