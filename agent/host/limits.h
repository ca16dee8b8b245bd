// The agent's own resources: CPU share, resident memory, open files, and when to slow down.
// Flow: the main loop calls `measure` about once a second and `pause` before work that can wait.
// CPU is a token bucket: it fills by the allowed share of the time, up to `burst`, and the CPU time
// that the process uses empties it. While it is below 0, work should wait `pause`. Memory and
// descriptors have bounds: a bound counts as exceeded when it is reached, and as kept again below
// 90 % of it. Each such change is counted and reported. One thread; reads /proc/self of an injected
// /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/host/notices.h"
#include "agent/host/proc.h"

namespace l4::host {

struct Usage {
  double cpu_share = 0;  ///< share of one core since the previous measurement
  std::uint64_t resident_bytes = 0;
  std::uint64_t descriptors = 0;
  bool operator==(const Usage&) const = default;
};

class Limits {
 public:
  /// 0: no bound.
  struct Bounds {
    double cpu_share = 0.05;
    std::uint64_t resident_bytes = 96ULL << 20U;
    std::uint64_t descriptors = 0;  ///< 0: 90 % of what the system allows (RLIMIT_NOFILE)
    Millis burst{10'000};           ///< the share of this much time may be used at once
  };
  struct Stats {
    std::uint64_t cpu_passed = 0, memory_passed = 0, descriptors_passed = 0, unread = 0;
  };

  Limits(Proc proc, Bounds bounds);

  /// Keeps the last usage if /proc cannot be read; counted.
  const Usage& measure(const HostTime& now);
  /// How long work that can wait should wait; 0 while there is CPU time left.
  Millis pause() const;
  bool over_cpu() const { return pause() > Millis{0}; }
  bool over_memory() const { return over_memory_; }
  bool over_descriptors() const { return over_descriptors_; }
  const Usage& usage() const { return usage_; }
  const Bounds& bounds() const { return bounds_; }
  const Stats& stats() const { return stats_; }
  std::vector<Notice> flush_notices() { return notices_.flush(); }

 private:
  std::optional<SinceBoot> cpu_used() const;
  std::optional<std::uint64_t> count_descriptors() const;
  void spend(SinceBoot used, SinceBoot passed);
  void compare(bool& over, std::uint64_t value, std::uint64_t bound, std::uint64_t& passed,
               std::string_view kind, std::string_view again, std::string_view what);

  Proc proc_;
  Bounds bounds_;
  Usage usage_;
  std::optional<SinceBoot> last_, last_cpu_;
  double tokens_us_ = 0;
  bool over_cpu_ = false, over_memory_ = false, over_descriptors_ = false;
  Stats stats_;
  Notices notices_;
};

}  // namespace l4::host
