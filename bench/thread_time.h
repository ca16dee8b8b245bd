// The processor time of the calling thread.
#pragma once

#include <ctime>

namespace l4::bench {

/// Seconds.
inline double used() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
}

}  // namespace l4::bench
