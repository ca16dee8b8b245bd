#include "common/metrics/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace l4::metrics {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

void add_process(Metrics& to, const std::string& prefix) {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    to.counter(prefix + "process_cpu_seconds_total", "processor time of the program")
        .reach(seconds(usage.ru_utime) + seconds(usage.ru_stime));
  std::uint64_t pages = 0, resident = 0;
  if (std::ifstream("/proc/self/statm") >> pages >> resident)
    to.gauge(prefix + "process_resident_memory_bytes", "memory of the program")
        .set(static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  std::error_code failed;
  const std::filesystem::directory_iterator open("/proc/self/fd", failed);
  if (failed) return;
  const auto count = std::distance(begin(open), end(open)) - 1;  // without the folder itself
  to.gauge(prefix + "process_open_fds", "files and connections that are open")
      .set(static_cast<double>(count));
}

}  // namespace l4::metrics
