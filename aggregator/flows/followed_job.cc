#include "aggregator/flows/followed_job.h"

#include <algorithm>
#include <array>
#include <utility>

#include "aggregator/flows/numbers.h"
#include "aggregator/flows/silence.h"

namespace l4::flows {

namespace {

StepList pointers(const std::vector<StepFacts>& steps) {
  StepList all;
  for (const StepFacts& step : steps) all.push_back(&step);
  return all;
}

void put(const Explanation& from, FlowFinding& to) {
  to.cause = from.cause;
  to.place = from.place;
  to.ambiguous = from.ambiguous;
  to.factor = from.factor;
}

std::size_t shapes_kept(std::size_t groups, std::size_t streams, std::size_t asked) {
  const std::size_t each = ShapeRing::bytes_each(groups);
  const std::size_t most = streams * FollowedJob::kShapeBytesEach / each;
  return std::min(asked, std::max(most, FollowedJob::kShapesMin));
}

}  // namespace

FollowedJob::FollowedJob(std::string name, JobPlan plan, const StreamTable& table,
                         const Losses& losses, const ExporterSettings& exporter,
                         const KeptOfJob& kept)
    : name_(std::move(name)),
      table_(&table),
      kept_(kept),
      is_coarse_(exporter.sampling > 1 || exporter.inactive > 0),
      tracker_(std::move(plan), table, losses, kept.steps),
      explainer_(tracker_.plan(), table),
      shapes_(tracker_.plan().groups.size(),
              shapes_kept(tracker_.plan().groups.size(), tracker_.units().size(), kept.shapes)) {
  for (const std::uint32_t card : tracker_.plan().cards)
    servers_.insert(table.cards()[card].server);
}

void FollowedJob::add(const Row& row, std::uint32_t unit) {
  ++rows_;
  tracker_.add(row, unit);
  if (tracker_.has_steps()) take_steps();
  if (tracker_.period() == 0) watch_rates(row);
}

/// Without steps, what a place does to the rates of all streams that touch it is still seen.
void FollowedJob::watch_rates(const Row& row) {
  if (!rates_.add(row)) return;
  const RateWatch::Found found = rates_.find();
  const auto place = explainer_.blame(found.slow, found.judged);
  if (!place) {
    if (found.slow.empty()) slow_rates_.reset();
    return;
  }
  if (!slow_rates_) {
    FlowFinding finding;
    finding.at = row.end;
    finding.since = found.since;
    slow_rates_ = add_finding(std::move(finding));
  }
  if (*slow_rates_ < dropped_) return;
  put(*place, finding(*slow_rates_));
  finding(*slow_rates_).factor = found.factor;
}

void FollowedJob::take_steps() {
  for (const JobStep& step : tracker_.steps()) {
    ++steps_seen_;
    push_bounded(steps_, std::pair(step.begin, step.end), kept_.steps);
    shapes_.push(step);
    // What was lost may be what ended the step.
    if (step.lossy)
      ++lossy_;
    else
      judge(explainer_.facts_of(step));
  }
  tracker_.drop_steps();
}

std::size_t FollowedJob::add_finding(FlowFinding finding) {
  findings_.push_back(std::move(finding));
  if (findings_.size() > kFindingsMax) {
    findings_.pop_front();
    ++dropped_;
  }
  return dropped_ + findings_.size() - 1;
}

void FollowedJob::judge(StepFacts step) {
  constexpr unsigned kOver = 3;
  if (slow_steps_.judge(step.busy())) {
    shapes_.mark_slow();
    if (!incident_) open_incident(step);
    incident_->usual_since = 0;
    ++finding(incident_->finding).steps;
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

void FollowedJob::open_incident(const StepFacts& step) {
  incident_.emplace();
  incident_->before.assign(history_.begin(), history_.end());
  FlowFinding finding;
  finding.at = step.end;
  finding.since = step.begin;
  incident_->finding = add_finding(std::move(finding));
}

void FollowedJob::explain(bool is_over) {
  put(explainer_.explain(pointers(incident_->slow), pointers(incident_->before), is_over),
      finding(incident_->finding));
}

/// A unit that is slow for some steps in a row is told even if the step is not: a link that wears
/// out is seen before it hurts. Two steps are enough where it is as slow as what explains a step.
std::optional<Explanation> FollowedJob::slow_transfers(StepList& before, StepList& now) const {
  struct Watched {
    std::size_t steps;
    double slower;
  };
  constexpr std::array<Watched, 2> kSlowRuns{{{2, 1.5}, {kInRow, 1.35}}};
  for (const Watched& row : kSlowRuns) {
    before.clear();
    now.clear();
    for (std::size_t i = 0; i < history_.size(); ++i)
      (i + row.steps < history_.size() ? before : now).push_back(&history_[i]);
    if (slow_link_) before = pointers(before_slow_link_);  // what is slow for long becomes usual
    if (auto found = explainer_.slow_transfers(now, before, row.slower)) return found;
  }
  return std::nullopt;
}

void FollowedJob::watch_transfers() {
  constexpr std::size_t kBeforeMin = 8;
  if (history_.size() < kInRow + kBeforeMin) return;
  // Of what is seen in part, or merged, the last start is not known to be the last.
  if (is_coarse_ || std::ranges::any_of(history_, &StepFacts::partial)) return;
  StepList before, now;
  const auto found = slow_transfers(before, now);
  if (!found) {
    slow_link_.reset();
    return;
  }
  if (!slow_link_) {
    FlowFinding finding;
    finding.at = now.back()->end;
    finding.since = now.front()->begin;
    finding.steps = static_cast<unsigned>(now.size()) - 1;
    put(*found, finding);
    slow_link_ = add_finding(std::move(finding));
    before_slow_link_.clear();
    before_slow_link_.reserve(before.size());
    for (const StepFacts* step : before) before_slow_link_.push_back(*step);
  }
  if (*slow_link_ >= dropped_) ++finding(*slow_link_).steps;
}

void FollowedJob::finish(TimeNs now, TimeNs others) {
  auto silence = find_silence(tracker_, *table_, now, others);
  tracker_.finish(now);
  take_steps();
  if (!silence) return;
  silent_ = tracker_.last_row();
  silence_ = add_finding(std::move(*silence));
}

void FollowedJob::watch(TimeNs now, TimeNs others) {
  if (silent_ && *silent_ != tracker_.last_row()) silent_.reset();  // it goes on
  if (silent_) return;
  auto silence = find_silence(tracker_, *table_, now, others);
  if (!silence) return;
  silent_ = tracker_.last_row();
  silence_ = add_finding(std::move(*silence));
}

JobFlows FollowedJob::brief() const {
  JobFlows job;
  job.name = name_;
  for (const std::uint32_t server : servers_)
    if (server != kNone) job.servers.push_back(table_->topology().servers()[server]);
  for (const std::uint32_t index : tracker_.plan().cards) {
    const Card& card = table_->cards()[index];
    job.cards.push_back(card.address);
    job.signs[card.address] = card.last_sign;
  }
  std::ranges::sort(job.cards);
  job.first = tracker_.first_row();
  job.last = tracker_.last_row();
  job.period = tracker_.period();
  if (!steps_.empty()) job.steps.push_back(steps_.back());
  job.lossy_steps = lossy_;
  job.silent = is_silent();
  job.deadline = deadline_of(tracker_);
  job.stored = tracker_.storage_until();
  job.findings.assign(findings_.begin(), findings_.end());
  const auto open = [&](std::size_t number) {
    if (number >= dropped_) job.findings[number - dropped_].open = true;
  };
  if (incident_) open(incident_->finding);
  if (slow_link_) open(*slow_link_);
  if (slow_rates_) open(*slow_rates_);
  if (silent_) open(silence_);
  return job;
}

JobFlows FollowedJob::flows() const {
  const JobPlan& plan = tracker_.plan();
  const auto address = [&](std::uint32_t card) { return table_->cards()[card].address; };
  JobFlows job = brief();
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
  job.steps = steps_;
  job.shapes = shapes_.all();
  return job;
}

}  // namespace l4::flows
