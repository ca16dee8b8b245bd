#include "agent/host/limits.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>

namespace l4::host {
namespace {

constexpr Millis kPauseMax{1000};

std::uint64_t descriptors_allowed() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  return limit.rlim_cur * 9 / 10;
}

}  // namespace

Limits::Limits(Proc proc, Bounds bounds) : proc_(std::move(proc)), bounds_(bounds) {
  if (bounds_.descriptors == 0) bounds_.descriptors = descriptors_allowed();
  tokens_us_ = bounds_.cpu_share * static_cast<double>(SinceBoot{bounds_.burst}.count());
}

/// CPU time of the process, by a clock that is finer than the ticks in /proc.
std::optional<SinceBoot> Limits::cpu_used() const {
  if (proc_.real()) {
    timespec time{};
    if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0)
      return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_nsec / 1000};
  }
  const auto line = read_small(proc_.root() / "self" / "stat", 4096);
  const auto stat = line ? parse_stat(*line) : Seen<ProcessStat>{std::unexpected(line.error())};
  if (!stat) return std::nullopt;
  return stat->cpu;
}

std::optional<std::uint64_t> Limits::count_descriptors() const {
  DIR* folder = ::opendir((proc_.root() / "self" / "fd").c_str());
  if (folder == nullptr) return std::nullopt;
  std::uint64_t count = 0;
  while (const dirent* entry = ::readdir(folder))
    if (entry->d_name[0] != '.') ++count;
  ::closedir(folder);
  return proc_.real() && count > 0 ? count - 1 : count;  // less the descriptor of the folder itself
}

void Limits::spend(SinceBoot used, SinceBoot passed) {
  if (bounds_.cpu_share <= 0) return;
  const double most = bounds_.cpu_share * static_cast<double>(SinceBoot{bounds_.burst}.count());
  tokens_us_ += bounds_.cpu_share * static_cast<double>(passed.count());
  tokens_us_ = std::min(tokens_us_, most) - static_cast<double>(used.count());
  tokens_us_ = std::max(tokens_us_, -most);  // bounds the debt
  if (tokens_us_ < 0 && !over_cpu_) {
    over_cpu_ = true;
    ++stats_.cpu_passed;
    notices_.add("cpu", "the agent's share of a core is used up: it slows down");
  } else if (tokens_us_ > most / 10) {
    over_cpu_ = false;
    notices_.clear("cpu");
  }
}

void Limits::compare(bool& over, std::uint64_t value, std::uint64_t bound, std::uint64_t& passed,
                     std::string_view kind, std::string_view again, std::string_view what) {
  if (bound == 0) return;
  if (!over && value >= bound) {
    over = true;
    ++passed;
    notices_.clear(again);
    notices_.add(kind, std::string{what} + " are at their bound: " + std::to_string(value) +
                           " of " + std::to_string(bound));
  } else if (over && value < bound - bound / 10) {
    over = false;
    notices_.clear(kind);
    notices_.add(again, std::string{what} + " are within their bound again: " +
                            std::to_string(value) + " of " + std::to_string(bound));
  }
}

const Usage& Limits::measure(const HostTime& now) {
  const auto cpu = cpu_used();
  if (cpu && last_ && last_cpu_ && now.boot > *last_) {
    const SinceBoot used = std::max(*cpu - *last_cpu_, SinceBoot{0});
    const SinceBoot passed = now.boot - *last_;
    usage_.cpu_share = static_cast<double>(used.count()) / static_cast<double>(passed.count());
    spend(used, passed);
  }
  if (cpu && (!last_ || now.boot > *last_)) {
    last_ = now.boot;
    last_cpu_ = cpu;
  }
  // statm: pages in all, pages resident, ...
  const auto pages = read_small(proc_.root() / "self" / "statm", 256);
  const std::size_t blank = pages ? pages->find(' ') : std::string::npos;
  std::uint64_t resident = 0;
  const bool read =
      blank != std::string::npos &&
      std::from_chars(pages->data() + blank + 1, pages->data() + pages->size(), resident).ec ==
          std::errc{};
  if (read)
    usage_.resident_bytes =
        resident * static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 1L));
  const auto descriptors = count_descriptors();
  if (descriptors) usage_.descriptors = *descriptors;
  if (!cpu || !read || !descriptors) ++stats_.unread;
  compare(over_memory_, usage_.resident_bytes, bounds_.resident_bytes, stats_.memory_passed,
          "memory", "memory_again", "bytes of resident memory");
  compare(over_descriptors_, usage_.descriptors, bounds_.descriptors, stats_.descriptors_passed,
          "descriptors", "descriptors_again", "open files");
  return usage_;
}

Millis Limits::pause() const {
  if (tokens_us_ >= 0 || bounds_.cpu_share <= 0) return Millis{0};
  const double wait_ms = std::ceil(-tokens_us_ / bounds_.cpu_share / 1000);
  return std::min(Millis{static_cast<std::int64_t>(wait_ms)}, kPauseMax);
}

}  // namespace l4::host
