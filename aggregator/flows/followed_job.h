// A job that is followed: its steps, what was slow in them and what is said about it.
//
// Place in the flow: the analyser owns one for each job; rows go through the JobTracker, its steps
// through SlowSteps and the causes. One owner. Bounds: kSlow and
// kBefore steps with their facts, KeptOfJob.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/flows/causes.h"
#include "aggregator/flows/job_flows.h"
#include "aggregator/flows/rate_watch.h"
#include "aggregator/flows/slow_steps.h"
#include "aggregator/flows/tracker.h"

namespace l4::flows {

/// How much of a job is kept; findings are the latest kFindingsMax in any case.
struct KeptOfJob {
  std::size_t steps = 1 << 20;  ///< at least so many of the latest; twice as many at most
  /// The latest steps as a page draws them; fewer where they would take more than some tens of
  /// bytes for each of the job's streams, but kShapesMin at least.
  std::size_t shapes = 0;
};

/// Slow steps that belong together, and the finding about them.
struct Incident {
  std::vector<StepFacts> slow, before;
  std::size_t finding = 0;   ///< its number
  unsigned usual_since = 0;  ///< usual steps since the last slow one
};

class FollowedJob {
 public:
  /// Steps on which an incident is judged, and usual ones that they are compared with.
  static constexpr std::size_t kSlow = 8, kBefore = 30;
  static constexpr std::size_t kFindingsMax = 1000;
  /// Steps in a row of which slow transfers are told, though the steps are not slow.
  static constexpr std::size_t kInRow = 5;
  static constexpr std::size_t kShapesMin = 50, kShapeBytesEach = 32;

  /// `table` and `losses` must outlive the job.
  FollowedJob(std::string name, JobPlan plan, const StreamTable& table, const Losses& losses,
              const ExporterSettings& exporter, const KeptOfJob& kept);

  const std::string& name() const { return name_; }
  JobTracker& tracker() { return tracker_; }
  const JobTracker& tracker() const { return tracker_; }
  void add(const Row& row, std::uint32_t unit);
  /// Judges what is open. `others`: latest end of a row of other jobs.
  void finish(TimeNs now, TimeNs others);
  /// Judges whether the job is silent at `now`, while it may still go on.
  void watch(TimeNs now, TimeNs others);
  /// Rows that it was learned from, and that have come to it in all.
  std::uint64_t learned_from() const { return learned_from_; }
  std::uint64_t rows() const { return rows_; }
  void set_learned() { learned_from_ = rows_; }
  std::size_t findings() const { return findings_.size(); }
  bool is_silent() const { return silent_.has_value(); }
  bool has_server(std::uint32_t server) const { return servers_.contains(server); }
  JobFlows flows() const;
  /// The same without pairs, groups, lanes and steps but the last: cheap enough for each second.
  JobFlows brief() const;
  std::uint64_t steps() const { return steps_seen_; }  ///< whole ones, that were ever seen

 private:
  void take_steps();
  void judge(StepFacts step);
  void open_incident(const StepFacts& step);
  void explain(bool is_over);
  void watch_transfers();
  std::optional<Explanation> slow_transfers(StepList& before, StepList& now) const;
  void watch_rates(const Row& row);
  std::size_t add_finding(FlowFinding finding);
  FlowFinding& finding(std::size_t number) { return findings_[number - dropped_]; }

  std::string name_;
  const StreamTable* table_;
  KeptOfJob kept_;
  std::uint64_t learned_from_ = 0, rows_ = 0;
  bool is_coarse_;  ///< a record is not one whole transfer
  JobTracker tracker_;
  Explainer explainer_;
  std::set<std::uint32_t> servers_;
  SlowSteps slow_steps_;
  RateWatch rates_;                        ///< of a job without a step clock
  std::optional<std::size_t> slow_rates_;  ///< finding about them
  std::deque<StepFacts> history_;          ///< usual steps, the latest last
  std::optional<Incident> incident_;
  std::optional<std::size_t> slow_link_;  ///< finding about transfers that do not slow the job yet
  std::vector<StepFacts> before_slow_link_;  ///< steps that they are compared with while it is open
  std::optional<TimeNs> silent_;             ///< its last row, once silence was told
  std::size_t silence_ = 0;                  ///< finding about it
  std::uint64_t steps_seen_ = 0;
  std::vector<std::pair<TimeNs, TimeNs>> steps_;
  ShapeRing shapes_;
  std::deque<FlowFinding> findings_;
  std::size_t dropped_ = 0;  ///< findings before the first that is kept; numbers go on
  std::uint64_t lossy_ = 0;
};

}  // namespace l4::flows
