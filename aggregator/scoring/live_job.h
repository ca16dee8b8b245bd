// One running job: its state, its watch, its incidents, its newest report.
//
// Flow: Shard hands over batches and the time; this applies them, asks JobWatch whether anything
// calls for a diagnosis, says when it wants one and makes it. Nothing is sent or stored from here:
// changes of incidents come back to the shard. Belongs to one shard, on its thread; it reads no
// clock. The shard measures the cost of a diagnosis, which paces the next one. Bounds: those of
// JobState, `warnings_max`; beyond JobOptions' bytes the shard calls `freeze` and nothing more is
// applied.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/detect/network/network.h"
#include "aggregator/diagnose/diagnose.h"
#include "aggregator/job/job_state.h"
#include "aggregator/job/lineage.h"
#include "aggregator/scoring/kinship.h"
#include "aggregator/scoring/node_check.h"
#include "aggregator/scoring/notice_book.h"
#include "aggregator/scoring/options.h"
#include "aggregator/scoring/presence.h"
#include "aggregator/store/store.h"

namespace l4::scoring {

/// A row of `GET /api/v1/jobs`.
struct JobRow {
  std::string id, incident;
  std::int32_t attempt = 0;
  State state = State::unknown;
  bool suspect = false, ended = false;
  std::optional<TimeMs> since, begin, last_seen;
  std::optional<TimeMs> progress;  ///< time of the last progress, by the aggregator's clock
  Stage stage = Stage::unknown;
  std::optional<double> confidence;  ///< that `state` is right; none without a report
  std::optional<Iteration> iteration;
  /// What an iteration took lately in the stream that is farthest, ms, oldest first.
  std::vector<double> course_ms;
  std::size_t nodes = 0, ranks = 0, sources = 0;
  std::size_t ranks_mapped = 0;                ///< in the newest attempt: job/rank_coverage.h
  std::optional<std::int32_t> ranks_expected;  ///< as its processes say
  std::vector<std::string> users;              ///< owners of its logs, at most kUsersMax
  std::uint64_t lines = 0;
  double completeness = 1;
  std::size_t notices = 0;  ///< in the newest report
  std::string notice;       ///< text of the one that came last
};

inline constexpr std::size_t kCourseMax = 32;  ///< of JobRow::course_ms
inline constexpr std::size_t kUsersMax = 16;   ///< of JobRow::users

class LiveJob {
 public:
  LiveJob(std::string id, const JobOptions& options, TimeMs now);

  void apply(wire::Batch batch, store::Seq seq, TimeMs arrival);
  /// Applies an event of one agent of the job, or of all agents; the journal has it under `seq`.
  void on(const receive::AgentEvent& event, store::Seq seq);
  /// After a restart, once all of the journal is applied: silences begin anew.
  void resume(const std::vector<store::Incident>& rows, TimeMs now) {
    book_.restore(rows);
    watch_.resumed(state_, now);
  }

  /// What the network shows of the job now; asks for a diagnosis where that has begun or ended.
  void see(std::shared_ptr<const detect::network::Network> network, TimeMs now);

  /// Passes on the current knowledge from earlier jobs of its kind.
  void meet(std::shared_ptr<const pool::Shelf> shelf, TimeMs now) {
    kinship_.resolve(std::move(shelf), templates_, watch_, now);
  }
  bool wants_to_meet(TimeMs now) const { return changed_ && kinship_.is_due(now, opened_); }
  const std::string& kind() const { return kinship_.kind(); }
  /// The run that the job adds to the pool; empty if its processes did not end well.
  std::optional<pool::Run> healthy_run(bool told) const;
  /// Whether the newest report says that the job has ended well, and nothing speaks against that.
  bool ended_well() const;

  /// The time up to which the logs of all its agents were read.
  TimeMs seen_until(const Presence& presence, TimeMs now) const;
  /// Looks for triggers; true if a diagnosis is wanted now. `seen_until`: see Presence.
  bool poll(TimeMs now, TimeMs seen_until);
  /// Whether the nodes are to be compared now, because a window has closed since they last were.
  bool wants_check(TimeMs now) const;
  /// Compares them; the caller passes the cost to rested_check(). An alarm is a trigger for poll().
  std::size_t check_nodes(TimeMs now);  ///< alarms
  TimeMs next_node_check() const { return node_check_.next(); }
  void rested_check(TimeMs now, Millis cost) { node_check_.rest(now, cost); }
  /// The wanted diagnosis is more than routine: a trigger or a suspicion waits for it.
  bool is_urgent() const { return urgent_; }
  /// Lets deadlines pass without a diagnosis, for reports of the past; next_pass() is the next time
  /// to do so.
  void pass(TimeMs seen_until) { static_cast<void>(watch_.due(seen_until)); }
  std::optional<TimeMs> next_pass() const { return watch_.next_check(); }
  /// Asks for a diagnosis although no line has arrived.
  void schedule_diagnosis() { wanted_ = true; }
  /// The latest time for the next call of `poll`.
  TimeMs next_check(TimeMs now) const;
  /// Makes a diagnosis; the caller passes its cost to rest(), which delays the next one.
  IncidentBook::Changes diagnose(TimeMs now, TimeMs seen_until, const faults::Library* library);
  void rest(TimeMs now, Millis cost);
  bool may_diagnose(TimeMs now) const { return now >= rest_until_; }
  /// Whether a request now gets a new report. Otherwise it gets the last one, which is no older
  /// than the current rest.
  bool answers_anew(TimeMs now) const;
  TimeMs looked_at() const { return report_at_; }  ///< time of the newest report
  const std::optional<diagnose::Report>& report() const { return report_; }
  /// The report as JSON, rendered once for all requests; empty without a report.
  const std::string& report_json() const;

  void save(ByteWriter& out, const Presence& presence) const;
  /// Loads the state after a restart; earlier knowledge of agents and silences no longer counts.
  /// False if the bytes are unusable; then this object must be discarded.
  bool load(std::span<const std::byte> bytes);
  /// Restores everything as it was when saved, for a look at the past; `presence` gets the agents
  /// of this job alone.
  bool load(std::span<const std::byte> bytes, Presence& presence);

  /// Whether something may be wrong that no report explains yet; for information.
  bool is_suspect(TimeMs now, TimeMs seen_until) const;
  JobRow row(TimeMs now, TimeMs seen_until) const;
  store::JobRow stored_row() const;
  const job::JobState& state() const { return state_; }
  const job::Lineage& lineage() const { return lineage_; }
  const IncidentBook& incidents() const { return book_; }
  const std::string& id() const { return state_.id(); }
  /// Numbers in the journal: the last record that the job knows, and its first batch.
  store::Seq last() const { return last_; }
  store::Seq first() const { return first_; }
  void noted(store::Seq seq) { last_ = std::max(last_, seq); }
  TimeMs opened() const { return opened_; }
  TimeMs last_arrival() const { return last_arrival_; }
  bool ended() const { return ended_.has_value(); }
  std::optional<TimeMs> ended_at() const { return ended_; }
  void end(TimeMs now) { ended_ = now; }
  /// Ends what the job's notices have alerted.
  IncidentBook::Changes close_notices(TimeMs now);
  std::size_t open_notices() const { return notices_.open(); }
  void freeze() { frozen_ = true; }
  bool is_frozen() const { return frozen_; }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t left_out() const { return left_out_; }
  void set(const Thresholds& thresholds) {
    options_.thresholds = thresholds;
    watch_.set(thresholds.watch);
    book_.set(thresholds.incidents);
  }

 private:
  void bound_warnings(wire::Batch& batch);
  void keep_look();
  void save_moment(ByteWriter& out, const Presence& presence) const;
  void load_moment(ByteReader& in, Presence& presence);
  bool read(std::span<const std::byte> bytes, Presence* presence);

  JobOptions options_;
  job::TemplateTable templates_;
  job::Lineage lineage_;
  job::JobState state_;
  watch::JobWatch watch_;
  IncidentBook book_;
  NoticeBook notices_;
  Kinship kinship_;
  NodeCheck node_check_;
  TimeMs opened_, last_arrival_;
  std::optional<TimeMs> ended_;
  std::shared_ptr<const detect::network::Network> network_;  ///< null: nothing is known of it
  store::Seq first_, last_;
  std::optional<diagnose::Report> report_;
  mutable std::string report_json_;
  TimeMs report_at_{}, rest_until_{}, check_at_{TimeMs::max()};
  TimeMs quiet_until_{};  ///< no diagnosis before that unless something failed
  Millis cost_{0}, recheck_{0};
  bool wanted_ = false, urgent_ = false, changed_ = false, frozen_ = false;
  bool unchecked_ = false;      ///< lines have come since the nodes were compared
  std::uint64_t refused_ = 0;   ///< batches that could not be applied in full
  std::uint64_t left_out_ = 0;  ///< batches and warnings beyond a bound
};

}  // namespace l4::scoring
