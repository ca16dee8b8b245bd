// Tells times that a source prints about now from those of a clock that was never set, of data, or
// of nothing at all (0, the year 2106).
//
// A time far from the one before it is not believed, until kSure of them in a row agree with each
// other: then the log goes on at another time, as one does that a later run is appended to. Once
// the first fall of a log shows that it begins with times of another clock (first_fall.h), and its
// own is known, a leap ahead by kClockStep needs kSureOfClock. Plain value, one thread.
#pragma once

#include <chrono>
#include <optional>

#include "agent/stamps/first_fall.h"
#include "common/base/time.h"

namespace l4::stamps {

class FarTimes {
 public:
  /// No job is silent for so long.
  static constexpr Millis kFar = std::chrono::days{31};
  static constexpr int kSure = 3;
  static constexpr int kSureOfClock = 16;

  /// `usual`: a time near those of the source, if one is known.
  explicit FarTimes(std::optional<TimeMs> usual = {}) : last_(usual) {}

  bool believes(TimeMs time) {
    if (!last_) return take(time, Millis{0});
    const Millis step = time - *last_;
    const bool leaps = is_far(time, *last_);
    if (!leaps && !(step >= kClockStep && two_clocks_ && fall_.clock_is_known()))
      return take(time, step);
    doubted_ = doubted_ > 0 && agrees(time, leaps) ? doubted_ + 1 : 1;
    other_ = time;
    return doubted_ >= (leaps ? kSure : kSureOfClock) && take(time, step);
  }

 private:
  bool take(TimeMs time, Millis step) {
    two_clocks_ = fall_.note(step) || two_clocks_;
    last_ = time;
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
  FirstFall fall_;
  bool two_clocks_ = false;
};

}  // namespace l4::stamps
