// Samples the aggregator while the fleet plays: its figures, its memory and CPU, its answers.
//
// A thread of its own, so that a slow answer holds up no agent; results are fetched at any time.
// Times are the fleet's. Bounds: a sample every `every`, some 100 B.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "common/base/mutex.h"
#include "tools/fleet/aggregator_process.h"
#include "tools/fleet/judge.h"

namespace l4::fleet {

struct Sample {
  Millis at{0};  ///< since the fleet's start
  Usage usage;
  bool answered = false;
  bool blind = false;
  std::uint64_t connected = 0, lost = 0, waiting = 0;
  std::map<std::string, double> figures;  ///< figures of the last answer only
};

class Watcher {
 public:
  /// `usage`, `age`: asked on the watcher's thread.
  Watcher(std::string url, Millis every, std::function<Usage()> usage, std::function<Millis()> age);
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher();

  std::vector<Sample> samples() const;
  /// The newest sample.
  Sample last() const;

 private:
  void run();
  void sample();

  std::string url_;
  Millis every_;
  std::function<Usage()> usage_;
  std::function<Millis()> age_;
  mutable Mutex mutex_;
  std::vector<Sample> samples_ L4_GUARDED_BY(mutex_);
  std::map<std::string, double> figures_ L4_GUARDED_BY(mutex_);
  std::atomic<bool> stopping_{false};
  std::jthread thread_;
};

/// Lines `name value` and `name{label="x"} value` of Prometheus' text.
std::map<std::string, double> read_figures(std::string_view text);

/// All incidents that the aggregator has, with their first nodes.
Result<std::vector<Found>> ask_incidents(const std::string& url);

}  // namespace l4::fleet
