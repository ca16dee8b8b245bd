// Counts steps of the clock within one file: times that fall back, or leap ahead by more than a job
// can last.
//
// The decoder notes every time in the order of the lines. Lines of several writers mix within
// seconds; a step back of a minute or more means a clock that was set, daylight saving time, or
// writers whose clocks or zones differ. If only a few times stood before it, they were of another
// clock than the log's: a launcher's local time, spoken once before all else is in UTC. Plain
// value, one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/base/time.h"

namespace l4::stamps {

struct ClockSteps {
  static constexpr Millis kBackMin = std::chrono::minutes(1);
  static constexpr Millis kAheadMin = std::chrono::days(365);

  std::uint64_t steps = 0;
  std::uint64_t line = 0;         ///< line of the widest step
  Millis widest{0};               ///< negative: back
  static constexpr int kFew = 3;  ///< times

  std::optional<TimeMs> last;
  int alike = 0;  ///< times since the clock last leapt ahead, at most kFew + 1
  bool fell = false;

  /// True if it fell back by kClockStep or more, for the first time, after a few times: these were
  /// of another clock.
  bool note(TimeMs time, std::uint64_t at_line) {
    const Millis step = last ? time - *last : Millis{0};
    last = time;
    const bool returned = step <= -kClockStep && !std::exchange(fell, true) && alike <= kFew;
    if (step >= kClockStep) alike = 0;
    if (alike <= kFew) ++alike;
    if (step > -kBackMin && step < kAheadMin) return false;
    ++steps;
    if (std::chrono::abs(step) <= std::chrono::abs(widest)) return returned;
    widest = step;
    line = at_line;
    return returned;
  }
};

}  // namespace l4::stamps
