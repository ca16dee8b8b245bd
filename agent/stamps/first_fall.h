// Tells the times of an odd clock at the beginning of a log, or at a leap ahead in it, from a clock
// that was set back.
//
// Every time of a log is noted as its distance from the one before. The first time that the clock
// falls back by kClockStep or more, the times before it are of another clock (a launcher's local
// time before UTC, hours of a half day) if they are few. Later falls tell nothing: writers of two
// clocks take turns. Plain value, one thread.
#pragma once

#include <algorithm>
#include <utility>

#include "common/base/time.h"

namespace l4::stamps {

class FirstFall {
 public:
  static constexpr int kFew = 3;  ///< times that say little of their clock

  /// `step`: from the time before; any for the first time. True if the times before the step were
  /// of another clock.
  bool note(Millis step) {
    const bool back = alike_ > 0 && step <= -kClockStep;
    const bool odd = back && !std::exchange(fell_, true) && alike_ <= kFew;
    if (back || step >= kClockStep) alike_ = 0;
    alike_ = std::min(alike_, kFew) + 1;
    return odd;
  }
  /// More than a few times agree with the newest one.
  bool clock_is_known() const { return alike_ > kFew; }

 private:
  int alike_ = 0;  ///< times since the clock changed, at most kFew + 1
  bool fell_ = false;
};

}  // namespace l4::stamps
