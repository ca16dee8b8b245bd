// The live aggregator: store, shards, receive thread, alerts, put together and taken apart.
//
// Flow: start() takes the state folder, brings back what was (checkpoints, then the journal behind
// them), and starts the threads: one that receives, one a shard, one that looks whether all is
// well, those of the store and of the sinks of alerts. stop() takes nothing more, applies what was
// taken, saves every job and the offsets; what is killed instead comes back the same from the
// journal. Any thread may call `handle`, `metrics`, `health`; start and stop belong to one.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "aggregator/alert/alerter.h"
#include "aggregator/confirm/fault_book.h"
#include "aggregator/confirm/outcome.h"
#include "aggregator/fetch/lines.h"
#include "aggregator/intake/store_ledger.h"
#include "aggregator/live/counts.h"
#include "aggregator/live/event_board.h"
#include "aggregator/live/health_watch.h"
#include "aggregator/past/past.h"
#include "aggregator/receive/agent_server.h"
#include "aggregator/scoring/options.h"
#include "aggregator/scoring/shard.h"
#include "aggregator/store/store.h"
#include "common/base/error.h"
#include "common/wire/port.h"

namespace l4::intake {
class Intake;
}

namespace l4::live {

struct Options {
  scoring::ShardOptions shards;
  receive::ServerOptions server;
  store::StoreOptions store;
  alert::AlerterOptions alerts;
  fetch::LinesOptions lines;
  EventOptions events;
  pool::PoolOptions pool;
  past::PastOptions past;
  store::Path confirmed_faults;  ///< folder of theirs; empty: `faults` in the store's
  Millis stalls_after{60'000};   ///< a thread without a step for so long has stalled
};

/// Objects given to the aggregator. The caller makes the port, which outlives the aggregator.
struct Surroundings {
  wire::ServerPort& port;
  std::shared_ptr<const faults::Library> library = nullptr;  ///< that ships; null: none
  alert::Alerter::Post post;
  std::function<void(const std::string&)> say;
  std::function<wire::Instant()> now;
  store::Files& files = store::system_files();
  std::function<std::optional<wire::PortNotice>()> port_notice = {};  ///< for the log, if any
  std::function<void(const std::string&)> warn = {};  ///< as say, of trouble; none: say
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
  /// One step of everything, on this thread. `patient`: also waits for the disk, so that the result
  /// depends only on the messages and the clock.
  void step_all(bool patient = false);

  // From any thread. Each `then` is called once, on a thread of this; false: too busy, never
  // called.
  bool jobs(std::function<void(std::vector<scoring::JobRow>)> then);
  /// On the thread that owns the job; null if there is none. `anew`: with a report as of now, as
  /// far as Shard::refresh makes one, else maybe without any.
  bool job(const std::string& id, bool anew,
           std::function<void(const scoring::LiveJob*, const scoring::JobRow&)> then);
  bool agents(std::function<void(bool blind, std::vector<receive::AgentView>)> then);
  /// Raw lines, read by the agents that have them; each question is told in the log.
  bool lines(const fetch::LinesQuery& query, fetch::LinesThen then);
  /// The report of a job as of a time of the past; see PastDesk. `then` comes on its thread, or on
  /// the job's. `left`: the client is gone.
  bool past(const std::string& job, TimeMs at, const std::stop_token& left, past::PastThen then);
  bool counts(std::function<void(const Counts&)> then);
  Result<std::vector<store::Incident>> incidents(const store::IncidentQuery& query);
  Result<std::optional<store::Incident>> incident(const std::string& id);
  store::Database& database();  ///< thread-safe by itself
  /// Called on the thread that owns the job, or that would own it.
  bool on_shard(const std::string& job, scoring::Shard::Call call);
  Health health() const;
  /// A stream of changes from now on.
  EventBoard& events();
  /// The current library, with confirmed faults; a library never changes.
  std::shared_ptr<const faults::Library> library() const;
  /// See FaultBook; `then` comes on its thread.
  bool confirm(confirm::ConfirmRequest request, confirm::FaultBook::Then<confirm::Confirmed> then);
  bool drop_fault(std::string id, std::string who, confirm::FaultBook::Then<faults::Fault> then);
  /// Stores a reported outcome of a job and updates the pool. Any thread.
  bool record_outcome(confirm::OutcomeRequest request, confirm::OutcomeThen then);
  pool::PoolBook& pool();
  TimeMs now() const;
  void set(const scoring::Thresholds& thresholds);
  /// See Alerter::set: waits for some seconds if a sink was removed. Called by one thread.
  void set(alert::AlerterOptions alerts);

  /// For tests, while nothing runs.
  const scoring::LiveJob* find(const std::string& job) const;

 private:
  class Recovery;
  struct Impl;
  explicit Aggregator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::live
