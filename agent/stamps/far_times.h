// Tells times that a source prints about now from those of a clock that was never set, of data, or
// of nothing at all (0, the year 2106).
//
// A time far from the one before it is not believed, until kSure of them in a row agree with each
// other: then the log goes on at another time, as one does that a later run is appended to. A log
// that first falls back by kClockStep after a few times has two clocks (a launcher's local time
// before UTC, hours of a half day): once the clock behind the step has printed more of them, a leap
// ahead by as much needs kSureOfClock. Plain value, one thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "common/base/time.h"

namespace l4::stamps {

class FarTimes {
 public:
  /// No job is silent for so long.
  static constexpr Millis kFar = std::chrono::days{31};
  static constexpr int kSure = 3;
  static constexpr int kSureOfClock = 16;
  static constexpr int kFew = 3;  ///< times that say little of their clock

  /// `usual`: a time near those of the source, if one is known.
  explicit FarTimes(std::optional<TimeMs> usual = {}) : last_(usual) {}

  bool believes(TimeMs time) {
    if (!last_) return take(time);
    const bool leaps = is_far(time, *last_);
    const bool back = time <= *last_ - kClockStep, ahead = time >= *last_ + kClockStep;
    if (!leaps && !(ahead && two_clocks_ && alike_ > kFew)) {
      if (back && !std::exchange(fell_, true)) two_clocks_ = alike_ > 0 && alike_ <= kFew;
      if (back || ahead) alike_ = 0;
      return take(time);
    }
    doubted_ = doubted_ > 0 && agrees(time, leaps) ? doubted_ + 1 : 1;
    other_ = time;
    return doubted_ >= (leaps ? kSure : kSureOfClock) && take(time);
  }

 private:
  bool take(TimeMs time) {
    last_ = time;
    alike_ = std::min(alike_, kFew) + 1;
    doubted_ = 0;
    return true;
  }
  bool agrees(TimeMs time, bool leaps) const {
    return leaps ? !is_far(time, other_) : std::chrono::abs(time - other_) < kClockStep;
  }
  static bool is_far(TimeMs a, TimeMs b) { return std::chrono::abs(a - b) > kFar; }

  std::optional<TimeMs> last_;
  TimeMs other_;     ///< the last time that was not believed
  int doubted_ = 0;  ///< times in a row that agree with it
  int alike_ = 0;    ///< times since the clock changed, at most kFew + 1
  bool fell_ = false, two_clocks_ = false;
};

}  // namespace l4::stamps
