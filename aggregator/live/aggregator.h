// The live aggregator: store, shards, receive thread, alerts, put together and taken apart.
//
// Flow: start() takes the state folder, brings back what was (checkpoints, then the journal behind
// them), and starts the threads: one that receives, one a shard, those of the store and of the
// webhook. stop() takes nothing more, applies what was taken, saves every job and the offsets; what
// is killed instead comes back the same from the journal. Any thread may call `handle`, `metrics`,
// `health`, `reload`; start and stop belong to one.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aggregator/alert/alerter.h"
#include "aggregator/live/options.h"
#include "aggregator/live/shard.h"
#include "aggregator/live/store_ledger.h"
#include "aggregator/receive/agent_server.h"
#include "aggregator/store/store.h"
#include "common/base/error.h"
#include "common/wire/port.h"

namespace l4::live {

class Intake;

struct Options {
  ShardOptions shards;
  receive::ServerOptions server;
  store::StoreOptions store;
  alert::AlerterOptions alerts;
  Millis stalls_after{60'000};  ///< a thread that does not come round for so long is not well
};

/// What the aggregator takes from outside. The port is made by whoever knows which; it lives on.
struct Surroundings {
  wire::ServerPort& port;
  const faults::Library* library = nullptr;
  alert::Alerter::Post post;
  std::function<void(const std::string&)> say;
  std::function<wire::Instant()> now;
  store::Files& files = store::system_files();
  std::function<std::optional<std::string>()> port_notice = {};  ///< for the log, if any
  std::function<void(const std::string&)> warn = {};             ///< as say, of trouble; none: say
};

struct Health {
  std::vector<std::string> reasons;  ///< why it is degraded; empty if it is not
  bool journal = false;              ///< it cannot be written: nothing is taken
  bool blind = false;                ///< most agents fell silent at once
  bool database = false;             ///< it cannot be used
  bool stalled = false;              ///< a thread does not move: only a restart helps
};

/// The agents taken together.
struct Fleet {
  std::uint64_t agents = 0, connected = 0, lost = 0;
  std::uint64_t batches_held = 0, bytes_held = 0;          ///< by connected ones, as they last said
  std::array<std::uint64_t, wire::kSheddings> shedding{};  ///< of connected ones, by step
  Millis offset_max{0};   ///< of the clock that is furthest from ours, of connected ones
  Millis silence_max{0};  ///< of the connected one that was not heard for longest
};
Fleet sum_of(const std::vector<receive::AgentView>& agents, TimeMs now);

/// Everything that is counted, at one time; parts may be some milliseconds apart.
struct Counts {
  receive::ServerStats server;
  ShardStats shards;
  store::StoreStats store;
  alert::AlerterStats alerts;
  Fleet fleet;
  LedgerCounts ledger;
  std::uint64_t files = 0, under_way = 0, not_taken = 0;
  std::uint64_t agents_max = 0, journal_bytes_max = 0, checkpoint_bytes_max = 0;
  bool blind = false, accepting = true;
  bool whole = false;  ///< inside: a part that has all but the shards' figures
};

class Aggregator {
 public:
  static Result<std::unique_ptr<Aggregator>> recover(Options options, Surroundings surroundings);
  ~Aggregator();
  Aggregator(const Aggregator&) = delete;
  Aggregator& operator=(const Aggregator&) = delete;

  /// Starts the threads; without it, tests call step_all.
  void start();
  void stop();
  /// Everything once, on this thread. `patient`: until the disk has all of it, too; then what
  /// happens follows from what was sent and from the clock alone.
  void step_all(bool patient = false);

  // From any thread. Each `then` is called once, on a thread of this; false: too busy, never
  // called.
  bool jobs(std::function<void(std::vector<JobRow>)> then);
  bool snapshot(const std::string& job, std::function<void(std::optional<std::string>)> then);
  /// On the thread that owns the job; null if there is none. `anew`: with a report as of now, as
  /// far as Shard::refresh makes one, else maybe without any.
  bool job(const std::string& id, bool anew,
           std::function<void(const LiveJob*, const JobRow&)> then);
  bool agents(std::function<void(bool blind, std::vector<receive::AgentView>)> then);
  bool counts(std::function<void(const Counts&)> then);
  Result<std::vector<store::Incident>> incidents(const store::IncidentQuery& query);
  Result<std::optional<store::Incident>> incident(const std::string& id);
  Health health() const;
  const faults::Library& library() const;  ///< immutable
  void set(const Thresholds& thresholds);

  /// For tests, while nothing runs.
  const LiveJob* find(const std::string& job) const;

 private:
  class Recovery;
  struct Impl;
  explicit Aggregator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::live
