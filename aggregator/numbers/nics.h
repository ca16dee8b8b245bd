// The numbers that decide in aggregator/detect/nics.
//
// Place in the flow: each is a row of [number.nics] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include <cstddef>

#include "aggregator/numbers/in_force.h"
#include "common/base/time.h"

namespace l4::numbers {

struct Nics {
  /// [share] a period by steps is no further from the one by likeness
  double walked_off_max = 0.1;
  /// [periods] up to which a period is followed
  std::size_t multiples_max = 64;
  /// [share] of the course up to which a period is followed
  double followed_part = 0.6;
  /// [tenths] of a second left behind the last multiple
  double followed_margin = 4;
  /// [share] of a period around a multiple in which its top is looked for
  double reach_part = 0.25;
  /// [tenths] of a second around a multiple, at most
  double reach_max = 12;
  /// [share] of the first likeness that a multiple must keep
  double followed_likeness = 0.5;
  /// [parts] of a period: bursts are smoothed over one
  double smooth_part = 4;
  /// [share] of the largest burst that a burst reaches
  float burst_least = 0.25F;
  /// [share] of a period after a burst from which the next is looked for
  double step_early = 0.65;
  /// [share] and up to which: of a period
  double step_late = 1.35;
  /// [steps] that follow each other make a period by steps
  double steps_least = 5;
  /// [steps] that may have been taken for one
  std::size_t alike_most = 3;
  /// [share] of the expected steps that must be there for a part of a period to be the step
  double alike_steps = 0.8;
  /// [share] by which every second or third of them may differ from all in length
  double alike_length_off = 0.25;
  /// [share] and in bytes: what ranks exchange in a step is always as much
  double alike_bytes_off = 0.1;
  /// [parts] of a period: the bytes within one on either side are a burst's
  double burst_part = 3;
  /// [periods] that a course must hold
  double periods_fit = 3;
  /// [widths] a period found in a smoothed course is no shorter
  double smooth_widths = 3;
  /// [s] shortest period
  double period_least_s = 0.4;
  /// [s] longest period
  double period_most_s = 120;
  /// [correlation] of a course with itself at its period
  double likeness_min = 0.3;
  /// [share] of the best lag's: the shortest lag that reaches it is the period
  double likeness_part = 0.8;
  /// [share] of the tenths that must be known
  double known_min = 0.5;
  /// [ms] cards begin so long before the first line
  Millis before_logs{5000};
  /// [ms] no shorter silence of a card counts, also of jobs whose steps are short
  Millis deadline_least{5000};
  /// [ms] the same where no period is known
  Millis no_period_least{15'000};
  /// [ms] a card of which nothing was heard for so long is not known
  Millis stale{10'000};
  /// [tenths] of a second that are compared with stretches before
  std::size_t stretch = 100;
  /// [stretches] that are recent
  std::size_t recent_stretches = 3;
  /// [stretches] before them
  std::size_t before_stretches = 6;
  /// [tenths] of the last minute in which a card was active that worked
  std::size_t busy_least = 10;
  /// [tenths] of a second that make the present period, at least
  double lately_least = 300;
  /// [periods] that make the present one
  double lately_periods = 12;
  /// [tenths] of a second in which it must have been active
  std::size_t busy_within = 600;
  /// [periods] after which a silence of a card counts
  double deadline_periods = 3;
  /// [s] periods are taken from so much, the newest
  std::size_t window_s = 600;
  /// [times] a period so many times as long is slow
  double slow_min = 1.25;
  /// [ms] cards that stop within it stop together
  Millis same_time{150};
  /// [ms] by which the first is before the others
  Millis lead_min{200};
  /// [ms] a stop may be unseen for so long
  Millis unseen_within{3000};
  /// [share] of the cards: more are not "first"
  double first_part_max = 0.3333333333333333;
};

inline const Nics& nics() {
  return in_force<Nics>;
}

}  // namespace l4::numbers
