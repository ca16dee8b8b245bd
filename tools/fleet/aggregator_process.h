// The aggregator as a process: started, killed, and its usage as the kernel counts it.
// Used by Fleet, one thread. A program that is started here belongs to this object and is ended
// with it, by its own id; one that is only watched is left alone. Errors: programs that cannot be
// started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"
#include "tools/process/child.h"

namespace l4::fleet {

struct Usage {
  Millis user{0}, system{0};
  std::uint64_t resident_bytes = 0;
};

/// The usage of a living process; empty if it has ended.
std::optional<Usage> usage_of(pid_t pid);

class AggregatorProcess {
 public:
  struct Options {
    std::filesystem::path program, config, log;
  };

  explicit AggregatorProcess(pid_t watched) : pid_(watched) {}
  explicit AggregatorProcess(Options options) : options_(std::move(options)) {}
  AggregatorProcess(const AggregatorProcess&) = delete;
  AggregatorProcess& operator=(const AggregatorProcess&) = delete;
  ~AggregatorProcess() { stop(); }

  Result<void> start();
  bool is_ours() const { return options_.has_value(); }
  /// Kills the aggregator at once, as a loss of power does.
  void kill();
  void stop();
  /// Whether the aggregator has ended by itself.
  bool has_died();
  pid_t pid() const { return child_ ? child_->pid() : pid_; }
  /// The usage over all starts, including the running one.
  Usage usage() const;

 private:
  std::optional<Options> options_;
  std::optional<process::Child> child_;
  pid_t pid_ = -1;  ///< the watched one
  Usage past_;
};

}  // namespace l4::fleet
