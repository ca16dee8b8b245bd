// A clock that can be set: loaded before a program (LD_PRELOAD), it shifts the program's time of
// day by the seconds in a file, which may change meanwhile. The monotonic clocks are not changed.
// (libfaketime does not work with jemalloc.)
//
// L4_HOST_CLOCK names the file: 8 bytes, a signed number in the byte order of the machine.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

using Seconds = std::atomic<std::int64_t>;

/// Null if there is no such file. Allocates no memory, because the allocator asks for the time.
const Seconds* open_offset() {
  const char* const path = std::getenv("L4_HOST_CLOCK");
  const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const at = ::mmap(nullptr, sizeof(Seconds), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  return at == MAP_FAILED ? nullptr : static_cast<const Seconds*>(at);
}

std::int64_t offset() {
  static constinit std::atomic<const Seconds*> known = nullptr;
  static constinit std::atomic<bool> asked = false;
  if (!asked.exchange(true)) known = open_offset();
  const Seconds* const seconds = known;
  return seconds == nullptr ? 0 : seconds->load();
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto failed = static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
  const bool of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (failed == 0 && of_day) now->tv_sec += offset();
  return failed;
}

int gettimeofday(timeval* now, void* /*zone*/) noexcept {
  timespec fine{};
  const int failed = clock_gettime(CLOCK_REALTIME, &fine);
  now->tv_sec = fine.tv_sec;
  now->tv_usec = fine.tv_nsec / 1000;
  return failed;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
