#include "aggregator/flows/followed_job.h"

#include <algorithm>
#include <utility>

#include "aggregator/flows/silence.h"

namespace l4::flows {

namespace {

StepList pointers(const std::vector<JobStep>& steps) {
  StepList all;
  for (const JobStep& step : steps) all.push_back(&step);
  return all;
}

void put(const Explanation& from, FlowFinding& to) {
  to.cause = from.cause;
  to.place = from.place;
  to.ambiguous = from.ambiguous;
  to.factor = from.factor;
}

}  // namespace

FollowedJob::FollowedJob(JobPlan plan, const StreamTable& table, const Losses& losses,
                         const ExporterSettings& exporter)
    : table_(&table),
      is_coarse_(exporter.sampling > 1 || exporter.inactive > 0),
      tracker_(std::move(plan), table, losses),
      explainer_(tracker_.plan(), table) {
  for (const std::uint32_t card : tracker_.plan().cards)
    servers_.insert(table.cards()[card].server);
}

void FollowedJob::add(const Row& row, std::uint32_t unit) {
  tracker_.add(row, unit);
  if (tracker_.has_steps()) take_steps();
}

void FollowedJob::take_steps() {
  for (JobStep& step : tracker_.take_steps()) {
    steps_.emplace_back(step.begin, step.end);
    // What was lost may be what ended the step.
    if (step.lossy)
      ++lossy_;
    else
      judge(std::move(step));
  }
}

void FollowedJob::judge(JobStep step) {
  constexpr unsigned kOver = 3;
  if (slow_steps_.judge(step.busy())) {
    if (!incident_) open_incident(step);
    incident_->usual_since = 0;
    ++findings_[incident_->finding].steps;
    if (incident_->slow.size() >= kSlow) return;
    incident_->slow.push_back(std::move(step));
    return explain(false);
  }
  history_.push_back(std::move(step));
  if (history_.size() > kBefore) history_.pop_front();
  if (!incident_) return watch_transfers();
  if (++incident_->usual_since < kOver) return;
  explain(true);
  incident_.reset();
}

void FollowedJob::open_incident(const JobStep& step) {
  incident_.emplace();
  incident_->before.assign(history_.begin(), history_.end());
  incident_->finding = findings_.size();
  FlowFinding finding;
  finding.at = step.end;
  finding.since = step.begin;
  findings_.push_back(finding);
}

void FollowedJob::explain(bool is_over) {
  put(explainer_.explain(pointers(incident_->slow), pointers(incident_->before), is_over),
      findings_[incident_->finding]);
}

/// A unit that is slow for some steps in a row is told even if the step is not: a link that wears
/// out is seen before it hurts.
void FollowedJob::watch_transfers() {
  constexpr std::size_t kInRow = 5, kBeforeMin = 8;
  constexpr double kSlower = 1.35;
  if (history_.size() < kInRow + kBeforeMin) return;
  StepList before, now;
  for (std::size_t i = 0; i < history_.size(); ++i)
    (i + kInRow < history_.size() ? before : now).push_back(&history_[i]);
  // Of what is seen in part, or merged, the last start is not known to be the last.
  if (is_coarse_ || std::ranges::any_of(history_, &JobStep::partial)) return;
  const auto found = explainer_.slow_transfers(now, before, kSlower);
  if (!found) {
    slow_link_.reset();
    return;
  }
  if (!slow_link_) {
    slow_link_ = findings_.size();
    FlowFinding finding;
    finding.at = now.back()->end;
    finding.since = now.front()->begin;
    finding.steps = kInRow - 1;
    findings_.push_back(finding);
    put(*found, findings_.back());
  }
  ++findings_[*slow_link_].steps;
}

void FollowedJob::finish(TimeNs now, TimeNs others) {
  const auto silence = find_silence(tracker_, *table_, now, others);
  tracker_.finish(now);
  take_steps();
  if (silence) findings_.push_back(*silence);
}

JobFlows FollowedJob::flows(std::size_t index) const {
  const JobPlan& plan = tracker_.plan();
  const auto address = [&](std::uint32_t card) { return table_->cards()[card].address; };
  JobFlows job;
  job.name = "flows-" + std::to_string(index + 1);
  for (const std::uint32_t server : servers_)
    if (server != kNone) job.servers.push_back(table_->topology().servers()[server]);
  for (const std::uint32_t card : plan.cards) job.cards.push_back(address(card));
  std::ranges::sort(job.cards);
  for (const auto& [pair, labels] : plan.pairs)
    job.pairs.push_back({address(pair.first), address(pair.second), labels});
  job.strategy = plan.strategy;
  std::map<std::uint32_t, std::uint64_t> bytes;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    GroupFlows flows;
    flows.label = group.label;
    for (const std::uint32_t card : group.cards) flows.cards.push_back(address(card));
    if (group.rule) flows.collectives = static_cast<unsigned>(group.rule->events);
    flows.ends = tracker_.ends(g);
    if (!flows.ends.empty() && group.label == Label::data)
      for (const std::uint32_t card : group.cards)
        if (group.bytes > bytes[card]) {
          bytes[card] = group.bytes;
          job.clock_of[address(card)] = g;
        }
    job.groups.push_back(std::move(flows));
  }
  job.first = tracker_.first_row();
  job.last = tracker_.last_row();
  job.period = tracker_.period();
  job.steps = steps_;
  job.lossy_steps = lossy_;
  job.findings = findings_;
  return job;
}

}  // namespace l4::flows
