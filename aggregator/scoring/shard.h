// A share of the jobs, on one thread: applies their batches, watches, diagnoses and saves them.
// Flow: the receive thread delivers batches (it waits if the shard is far behind, and agents keep
// theirs) and events of agents; HTTP asks by calls that run on the shard's thread. A job belongs to
// one shard for good, by its id. `deliver`, `notify` and `call` are for any thread, all else is for
// the shard's thread, or for a test that steps it. Bounds: ShardOptions, for all shards together.
// Beyond them the job that ended first is dropped; if all jobs run, the largest one is frozen: its
// lines are still journaled and acknowledged, but no longer scored. Both are logged and counted.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "aggregator/receive/observer.h"
#include "aggregator/scoring/live_job.h"
#include "aggregator/scoring/normal_lines.h"
#include "aggregator/scoring/services.h"
#include "common/base/bounded_queue.h"
#include "common/wire/instant.h"

namespace l4::scoring {

using NetworkList = std::vector<std::shared_ptr<const detect::network::Network>>;

inline constexpr std::size_t kStates = static_cast<std::size_t>(State::launch_failed) + 1;

struct ShardStats {
  std::uint64_t jobs = 0, jobs_ended = 0, jobs_frozen = 0, jobs_dropped = 0;
  std::uint64_t batches = 0, batches_refused = 0, left_out = 0;
  std::uint64_t diagnoses = 0, incidents_opened = 0, incidents_open = 0, suspects = 0;
  std::array<std::uint64_t, kStates> open_by_state{};  ///< incidents, not jobs
  std::uint64_t checkpoints = 0, saved_bytes = 0, waiting = 0;
  std::uint64_t checks = 0, check_alarms = 0, notices_opened = 0, notices_open = 0;
  Millis diagnosing{0}, diagnosis_longest{0}, checking{0};
};

class Shard {
 public:
  using Call = std::function<void(Shard&)>;

  Shard(ShardOptions options, Services services);

  // Any thread.
  void deliver(store::Seq seq, wire::Batch batch, TimeMs arrival, std::size_t bytes);
  void notify(const receive::AgentEvent& event, store::Seq seq);
  bool call(Call call);  ///< false: too much waits
  void close() { queue_.close(); }
  /// Steady time of the last step.
  Millis stepped() const { return Millis{stepped_.load()}; }

  // Called before the shard runs.
  bool restore(const std::string& id, std::span<const std::byte> saved);
  void replay(store::Seq seq, wire::Batch batch, TimeMs arrival);
  /// Ends the recovery at `now`, which the journal has under `seq`: reads the incidents and expects
  /// the agents.
  void restored(TimeMs now, store::Seq seq);

  /// Handles waiting values (waiting for them at most `most`) and all that is due.
  void step(Millis most);
  /// Steps until it is closed and empty.
  void run();
  /// Writes checkpoints of all jobs that have changed.
  void save_all();

  std::vector<JobRow> rows() const;
  ShardStats stats() const;
  /// The job with a new report, or with its last one if the cost forbids a new one now; null if
  /// there is no such job.
  const LiveJob* refresh(const std::string& id);
  /// Stores the newest report of the job, which must have one; returns the row without the report.
  Result<store::Snapshot> snapshot(const LiveJob& job, std::string why, std::string who);
  JobRow row(const LiveJob& job) const;
  /// Lines of this shard's healthy jobs.
  NormalLines normal_lines(const NormalQuestion& question);
  /// Diagnoses the jobs with an open incident again soon, because the library has changed.
  void schedule_diagnoses();
  const LiveJob* find(const std::string& id) const;
  /// The kind of the job's run, which is in the pool now because its outcome is success. None:
  /// there is no such job. Error: it is not in the pool.
  std::optional<Result<std::string>> add_to_pool(const std::string& id, const std::string& by);
  void set(const Thresholds& thresholds);
  /// Tells each job what the network shows of it: the one that has most of its servers among the
  /// job's nodes. `known` gets the names, in the network, of those that are jobs here.
  void see(const NetworkList& networks, std::set<std::string>& known);

 private:
  struct BatchTask {
    store::Seq seq;
    wire::Batch batch;
    TimeMs arrival;
  };
  struct EventTask {
    store::Seq seq;
    receive::AgentEvent event;
  };
  using Task = std::variant<BatchTask, EventTask, Call>;
  struct Held {
    std::unique_ptr<LiveJob> job;
    store::Seq saved;
    TimeMs saved_at{}, row_at{};
    std::uint64_t bytes = 0;     ///< size of its last checkpoint
    store::Seq offered;          ///< last record offered to the pool
    bool over = false;           ///< larger than its bound; logged already
    std::optional<JobRow> told;  ///< row that following clients got last
  };
  void apply(wire::Batch batch, store::Seq seq, TimeMs arrival);
  Held& held(const std::string& id, TimeMs now);
  void handle(Task& task);
  void on(const EventTask& task);
  void diagnose_due(TimeMs now);
  void check_due(TimeMs now);
  void diagnose(Held& held);
  void publish(const LiveJob& job, const IncidentBook::Changes& changes);
  std::vector<store::Incident> incidents_of(const LiveJob& job);
  void publish_change(Held& held);
  void offer(Held& held);
  void checkpoint_due(TimeMs now);
  bool save(Held& held, TimeMs now);
  void evict_due(TimeMs now);
  void evict_rows(TimeMs now);
  void drop(const std::string& id, const std::string& why);
  std::string first_to_go(bool ended_only) const;
  void freeze(Held& held, const std::string& why);
  Millis pause(TimeMs now) const;

  ShardOptions options_;
  Services services_;
  BoundedQueue<Task> queue_;
  std::map<std::string, Held> jobs_;
  Presence presence_;
  ShardStats counts_;
  bool is_restored_ = false;  ///< the stored state is restored; jobs that come later are new
  TimeMs evicted_{};
  std::uint64_t counted_jobs_ = 0, counted_bytes_ = 0;  ///< this shard's part of services_.totals
  Millis polled_{-1'000'000};
  std::atomic<std::int64_t> stepped_{0};
};

}  // namespace l4::scoring
