// Counts steps of the clock within one file: times that fall back, or leap ahead by more than a job
// can last.
//
// The decoder notes every time in the order of the lines. Lines of several writers mix within
// seconds; a step back of a minute or more means a clock that was set, daylight saving time, or
// writers whose clocks or zones differ. Plain value, one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "agent/stamps/first_fall.h"
#include "common/base/time.h"

namespace l4::stamps {

struct ClockSteps {
  static constexpr Millis kBackMin = std::chrono::minutes(1);
  static constexpr Millis kAheadMin = std::chrono::days(365);

  std::uint64_t steps = 0;
  std::uint64_t line = 0;  ///< line of the widest step
  Millis widest{0};        ///< negative: back

  std::optional<TimeMs> last;
  FirstFall fall;

  /// True if the few times before this one were of another clock.
  bool note(TimeMs time, std::uint64_t at_line) {
    const Millis step = last ? time - *last : Millis{0};
    last = time;
    const bool returned = fall.note(step);
    if (step > -kBackMin && step < kAheadMin) return false;
    ++steps;
    if (std::chrono::abs(step) <= std::chrono::abs(widest)) return returned;
    widest = step;
    line = at_line;
    return returned;
  }
};

}  // namespace l4::stamps
