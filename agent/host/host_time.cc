#include "agent/host/host_time.h"

#include <ctime>

namespace l4::host {
namespace {

std::chrono::microseconds read_clock(clockid_t id) {
  timespec time{};
  ::clock_gettime(id, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_nsec / 1000};
}

}  // namespace

HostTime host_time() {
  return {TimeMs{std::chrono::floor<Millis>(read_clock(CLOCK_REALTIME))},
          read_clock(CLOCK_BOOTTIME)};
}

}  // namespace l4::host
