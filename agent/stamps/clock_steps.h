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

#include "common/base/time.h"

namespace l4::stamps {

struct ClockSteps {
  static constexpr Millis kBackMin = std::chrono::minutes(1);
  static constexpr Millis kAheadMin = std::chrono::days(365);

  std::uint64_t steps = 0;
  std::uint64_t line = 0;  ///< line of the widest step
  Millis widest{0};        ///< negative: back
  std::optional<TimeMs> last;

  void note(TimeMs time, std::uint64_t at_line) {
    const Millis step = last ? time - *last : Millis{0};
    last = time;
    if (step > -kBackMin && step < kAheadMin) return;
    ++steps;
    if (std::chrono::abs(step) <= std::chrono::abs(widest)) return;
    widest = step;
    line = at_line;
  }
};

}  // namespace l4::stamps
