// The live aggregator: makes, connects and stops the store, the shards, the receive thread and the
// alerts. Flow: recover() locks the state folder and restores the saved state (checkpoints, then
// the journal behind them). start() starts the threads: one receives, each shard has one, one
// watches the health, one receives flow records if that is set; the store and the sinks of alerts
// have their own. stop() accepts nothing more, applies what was accepted, and saves every job and
// the offsets; a killed aggregator restores the same state from the journal. Any thread may call
// `handle`, `metrics`, `health`; start and stop belong to one.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/alert/alerter.h"
#include "aggregator/collect/collect.h"
#include "aggregator/confirm/fault_book.h"
#include "aggregator/confirm/outcome.h"
#include "aggregator/fetch/lines.h"
#include "aggregator/intake/store_ledger.h"
#include "aggregator/live/counts.h"
#include "aggregator/live/event_board.h"
#include "aggregator/live/health_watch.h"
#include "aggregator/live/status.h"
#include "aggregator/past/past.h"
#include "aggregator/receive/agent_server.h"
#include "aggregator/scoring/options.h"
#include "aggregator/scoring/shard.h"
#include "aggregator/store/store.h"
#include "common/base/error.h"
#include "common/wire/port.h"

namespace l4::collect {
class FlowCollector;
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
  collect::CollectOptions flows;
  store::Path confirmed_faults;  ///< their folder; empty: `faults` in the store's folder
  Millis stalls_after{60'000};   ///< a thread without a step for so long has stalled
};

/// Objects given to the aggregator. The caller makes the port, which outlives the aggregator.
struct Surroundings {
  wire::ServerPort& port;
  std::shared_ptr<const faults::Library> library = nullptr;  ///< the shipped library; null: none
  alert::Alerter::Post post;
  std::function<void(const std::string&)> say;
  std::function<wire::Instant()> now;
  store::Files& files = store::system_files();
  std::function<std::optional<wire::PortNotice>()> port_notice = {};  ///< a line for the log
  /// A line about trouble; empty: `say` gets it.
  std::function<void(const std::string&)> warn = {};
  /// Names of the agents that may connect; empty, or an Error: not known. Any thread.
  std::function<Result<std::vector<std::string>>()> allowed = {};
};

enum class Named : std::uint8_t { jobs, nodes };

/// Which report a job has when it is shown.
enum class ReportAge : std::uint8_t {
  none,  ///< the newest there is, if there is one
  last,  ///< the newest there is; one is made only where there is none
  now,   ///< one as fresh as Shard::refresh makes it
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

  // For any thread. Each `then` is called once, on a thread of the aggregator. A call that returns
  // false was refused because too much waits, and never calls `then`.
  bool jobs(std::function<void(std::vector<scoring::JobRow>)> then);
  /// `then` is called on the thread that owns the job, with null if there is no such job, and with
  /// its shard, which makes its row.
  bool job(const std::string& id, ReportAge age,
           std::function<void(const scoring::LiveJob*, const scoring::Shard&)> then);
  bool agents(std::function<void(bool blind, std::vector<receive::AgentView>)> then);
  /// Raw lines, read by the agents that have them; each question is logged.
  bool lines(const fetch::LinesQuery& query, fetch::LinesThen then);
  /// The report of a job as of a time of the past; see PastDesk. `then` is called on the desk's
  /// thread or on the job's. `left`: the client has left.
  bool past(const std::string& job, TimeMs at, const std::stop_token& left, past::PastThen then);
  /// `then` is called on the thread of the flows; with null, at once, if none are received.
  bool flows(std::function<void(const collect::FlowCollector*)> then);
  bool receives_flows() const;
  bool counts(std::function<void(const Counts&)> then);
  bool status(std::function<void(const Status&)> then);
  Result<std::vector<store::Incident>> incidents(const store::IncidentQuery& query);
  Result<std::optional<store::Incident>> incident(const std::string& id);
  Result<std::optional<store::Incident>> incident_head(const std::string& id);
  store::Database& database();  ///< thread-safe by itself
  /// Runs `call` on the thread that owns the job, or would own it; false: too much waits.
  bool on_shard(const std::string& job, scoring::Shard::Call call);
  /// Acknowledged incidents and maintenance; thread-safe by itself.
  alert::QuietBook& quiet();
  /// Publishes a change of it, `data`, as an event of this type, and logs the line.
  void tell_quiet(std::string_view type, const std::string& job, std::string_view data,
                  const std::string& line);
  /// Names that are known now, each once: of the watched jobs, or of their nodes and of agents.
  bool names(Named of, std::function<void(std::vector<std::string>)> then);
  /// Tries the sinks (see Alerter::test), and logs who asked and how it went.
  std::expected<void, alert::TrialRefusal> test_alerts(const std::string& sink,
                                                       const std::string& who,
                                                       alert::TrialThen then);
  /// See Alerter::deliveries. Reads the database.
  std::vector<alert::Delivery> deliveries() const;
  Health health() const;
  /// Opens streams of the changes from now on.
  EventBoard& events();
  /// The current library, with confirmed faults; a library never changes.
  std::shared_ptr<const faults::Library> library() const;
  /// See FaultBook, whose thread calls `then`.
  bool confirm(confirm::ConfirmRequest request, confirm::FaultBook::Then<confirm::Confirmed> then);
  bool drop_fault(std::string id, std::string who, confirm::FaultBook::Then<faults::Fault> then);
  /// Stores a reported outcome of a job and updates the pool. Any thread.
  bool record_outcome(confirm::OutcomeRequest request, confirm::OutcomeThen then);
  pool::PoolBook& pool();
  TimeMs now() const;
  void set(const scoring::Thresholds& thresholds);
  /// See Alerter::set: waits for some seconds if a sink was removed. Called by one thread.
  void set(alert::AlerterOptions alerts);

  /// The job, for tests, while no thread runs.
  const scoring::LiveJob* find(const std::string& job) const;

 private:
  class Recovery;
  struct Impl;
  explicit Aggregator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::live
