// A job that is followed: its steps, what was slow in them and what is said about it.
//
// Place in the flow: the analyser owns one for each job; rows go through the JobTracker, its steps
// through SlowSteps and the causes. One owner. Bounds: kKept steps with their facts.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "aggregator/flows/causes.h"
#include "aggregator/flows/job_flows.h"
#include "aggregator/flows/slow_steps.h"
#include "aggregator/flows/tracker.h"

namespace l4::flows {

/// Slow steps that belong together, and the finding about them.
struct Incident {
  std::vector<JobStep> slow, before;
  std::size_t finding = 0;
  unsigned usual_since = 0;  ///< usual steps since the last slow one
};

class FollowedJob {
 public:
  /// Steps on which an incident is judged, and usual ones that they are compared with.
  static constexpr std::size_t kSlow = 8, kBefore = 30;

  /// `table` and `losses` must outlive the job.
  FollowedJob(JobPlan plan, const StreamTable& table, const Losses& losses,
              const ExporterSettings& exporter);

  JobTracker& tracker() { return tracker_; }
  void add(const Row& row, std::uint32_t unit);
  /// Judges what is open. `others`: latest end of a row of other jobs.
  void finish(TimeNs now, TimeNs others);
  bool has_server(std::uint32_t server) const { return servers_.contains(server); }
  JobFlows flows(std::size_t index) const;

 private:
  void take_steps();
  void judge(JobStep step);
  void open_incident(const JobStep& step);
  void explain(bool is_over);
  void watch_transfers();

  const StreamTable* table_;
  bool is_coarse_;  ///< a record is not one whole transfer
  JobTracker tracker_;
  Explainer explainer_;
  std::set<std::uint32_t> servers_;
  SlowSteps slow_steps_;
  std::deque<JobStep> history_;  ///< usual steps, the latest last
  std::optional<Incident> incident_;
  std::optional<std::size_t> slow_link_;  ///< finding about transfers that do not slow the job yet
  std::vector<std::pair<TimeNs, TimeNs>> steps_;
  std::vector<FlowFinding> findings_;
  std::uint64_t lossy_ = 0;
};

}  // namespace l4::flows
