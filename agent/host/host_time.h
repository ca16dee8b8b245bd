// One moment on both clocks of a host: wall time, and time since boot, which is never set back.
//
// Everything in agent/host takes the moment as an argument; only `host_time` reads clocks, and only
// mains call it. /proc and the kernel log count from boot; their times are converted with the
// difference of the clocks now, so a wall clock that was wrong in between does no harm. Pure
// values.
#pragma once

#include <chrono>

#include "common/base/time.h"

namespace l4::host {

/// Time since boot (CLOCK_BOOTTIME), microseconds.
using SinceBoot = std::chrono::microseconds;

struct HostTime {
  TimeMs wall;
  SinceBoot boot{0};
};

/// The clocks of this host, now.
HostTime host_time();

/// The time `then`, converted to the wall clock with the difference of the clocks `now`.
inline TimeMs wall_of(SinceBoot then, const HostTime& now) {
  return now.wall - std::chrono::floor<Millis>(now.boot - then);
}

}  // namespace l4::host
