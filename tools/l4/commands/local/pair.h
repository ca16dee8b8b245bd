// An agent and an aggregator in one process, joined by the wire in memory: the same rooms as the
// two programs run.
//
// Flow: sources -> agent (a thread of its own, l4-agent) -> MemoryWire -> aggregator (its threads)
// -> HTTP on loopback. start, stop and has_failed are for one thread. Errors: a state folder that
// cannot be used, rule packs or faults that are missing.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/daemon/own_log.h"
#include "agent/daemon/runner.h"
#include "aggregator/service.h"
#include "common/base/error.h"
#include "common/wire/bell.h"
#include "common/wire/memory_port.h"

namespace l4::commands::local {

struct PairOptions {
  std::vector<std::string> sources;  ///< absolute paths and patterns
  std::filesystem::path folder;      ///< of states and logs
  std::filesystem::path tokens;      ///< of HTTP
  std::filesystem::path config;      ///< settings of the aggregator; empty: the defaults
  std::uint16_t port = 0;            ///< of HTTP; 0: any free one
  bool processes = true;             ///< look at the processes behind the logs
};

class Pair {
 public:
  static Result<std::unique_ptr<Pair>> start(const PairOptions& options);
  ~Pair();
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  /// The agent ships what it has read, then the aggregator saves everything.
  void stop();
  /// The agent has ended by itself; its log says why.
  bool has_failed() const { return failed_; }
  std::string address() const { return aggregator_->address(); }
  /// Why the aggregator cannot do all of its work; empty if it can.
  std::vector<std::string> troubles() const { return aggregator_->aggregator().health().reasons; }

 private:
  explicit Pair(daemon::OwnLog log) : log_(std::move(log)) {}
  Result<void> start_agent(const PairOptions& options);
  void run_agent(const std::stop_token& stop);

  wire::MemoryWire wire_;
  std::unique_ptr<wire::ServerPort> port_;
  std::unique_ptr<aggregator::Service> aggregator_;
  daemon::OwnLog log_;
  std::unique_ptr<daemon::Runner> agent_;
  wire::Bell stopping_;
  std::atomic<bool> failed_{false};
  std::jthread thread_;
};

}  // namespace l4::commands::local
