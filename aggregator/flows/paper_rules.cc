#include "aggregator/flows/paper_rules.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string>

#include "aggregator/flows/numbers.h"
#include "aggregator/flows/union_find.h"

namespace l4::flows {
namespace {

constexpr double kPaperSigmas = 3;

double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return values.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// What a run of values says about the next one: a normal-inverse-gamma posterior.
struct Run {
  double log_weight = 0;
  double mean = 0, kappa = 1, alpha = 1, beta = 0.1;

  /// Log density of the next value: Student's t.
  double log_next(double value) const {
    const double freedom = 2 * alpha, scale = beta * (kappa + 1) / (alpha * kappa);
    const double away = (value - mean) * (value - mean) / scale;
    return std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2) -
           0.5 * std::log(freedom * std::numbers::pi * scale) -
           (freedom + 1) / 2 * std::log1p(away / freedom);
  }
  void take(double value) {
    beta += kappa * (value - mean) * (value - mean) / (2 * (kappa + 1));
    mean = (kappa * mean + value) / (kappa + 1);
    kappa += 1;
    alpha += 0.5;
  }
};

double log_sum(const std::vector<Run>& runs) {
  double most = -INFINITY, sum = 0;
  for (const Run& run : runs) most = std::max(most, run.log_weight);
  for (const Run& run : runs) sum += std::exp(run.log_weight - most);
  return most + std::log(sum);
}

}  // namespace

std::vector<std::size_t> change_points(const std::vector<double>& values, double every) {
  constexpr std::size_t kRunsMax = 200;
  std::vector<std::size_t> changes;
  if (values.empty()) return changes;
  Run fresh;
  fresh.mean = values.front();
  std::vector<Run> runs{fresh};  // by length, the shortest first
  std::size_t longest = 0;       // the most probable length
  const double stays = std::log(1 - 1 / every), begins = std::log(1 / every);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (Run& run : runs) run.log_weight += run.log_next(values[i]);
    Run begun = fresh;
    begun.mean = values[i];
    begun.log_weight = log_sum(runs) + begins;
    for (Run& run : runs) {
      run.log_weight += stays;
      run.take(values[i]);
    }
    runs.insert(runs.begin(), begun);
    if (runs.size() > kRunsMax) runs.pop_back();
    const double all = log_sum(runs);
    for (Run& run : runs) run.log_weight -= all;
    const auto best = static_cast<std::size_t>(
        std::ranges::max_element(runs, {}, &Run::log_weight) - runs.begin());
    if (i > 0 && best < longest + 1 && best <= 1) changes.push_back(i);
    longest = best;
  }
  return changes;
}

std::uint32_t PaperRules::card(const Address& address) {
  const auto [at, is_new] = numbers_.try_emplace(address, cards_.size());
  if (is_new) cards_.push_back(address);
  return at->second;
}

void PaperRules::add(const FlowRecord& record) {
  ++report_.records;
  if (report_.first == 0 || record.start < report_.first) report_.first = record.start;
  report_.last = std::max(report_.last, record.end);
  const bool is_training = topology_->empty() ? record.dst_port == kRocePort
                                              : topology_->card(record.src) != nullptr &&
                                                    topology_->card(record.dst) != nullptr;
  if (!is_training) return;
  pairs_[{card(record.src), card(record.dst)}].push_back({record.start, record.end, record.bytes});
}

std::vector<std::vector<std::uint32_t>> PaperRules::recognise() const {
  UnionFind sets(cards_.size());
  for (const auto& [pair, transfers] : pairs_) sets.join(pair.first, pair.second);
  std::map<std::uint32_t, std::uint32_t> first_of;  // server -> a card of it
  for (std::uint32_t i = 0; i < cards_.size(); ++i) {
    const std::uint32_t server = topology_->server_of(cards_[i]);
    if (server == kNone) continue;
    const auto [at, is_new] = first_of.try_emplace(server, i);
    if (!is_new) sets.join(at->second, i);
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> jobs;
  for (std::uint32_t i = 0; i < cards_.size(); ++i) jobs[sets.find(i)].push_back(i);
  std::vector<std::vector<std::uint32_t>> all;
  all.reserve(jobs.size());
  for (auto& [set, cards] : jobs) all.push_back(std::move(cards));
  return all;
}

std::map<PaperRules::Pair, Label> PaperRules::identify() const {
  std::map<Pair, Label> labels;
  UnionFind data(cards_.size());
  for (const auto& [pair, transfers] : pairs_) {
    std::set<std::uint64_t> sizes;
    for (const Transfer& one : transfers) sizes.insert(one.bytes);
    labels[pair] = sizes.size() == 1 ? Label::pipeline : Label::data;
    if (sizes.size() > 1) data.join(pair.first, pair.second);
  }
  for (auto& [pair, label] : labels)
    if (data.find(pair.first) == data.find(pair.second)) label = Label::data;
  return labels;
}

JobFlows PaperRules::reconstruct(const std::vector<std::uint32_t>& cards,
                                 const std::map<Pair, Label>& labels) const {
  constexpr double kEvery = 40;
  JobFlows job;
  std::set<std::uint32_t> servers;
  std::map<std::uint32_t, std::vector<Transfer>> by_card;
  const std::set<std::uint32_t> own(cards.begin(), cards.end());
  for (const auto& [pair, transfers] : pairs_) {
    if (!own.contains(pair.first)) continue;
    job.pairs.push_back({cards_[pair.first], cards_[pair.second], {labels.at(pair)}});
    for (const Transfer& one : transfers) {
      job.first = job.first == 0 ? one.start : std::min(job.first, one.start);
      job.last = std::max(job.last, one.end);
    }
    if (labels.at(pair) != Label::data) continue;
    for (const std::uint32_t end : {pair.first, pair.second})
      by_card[end].insert(by_card[end].end(), transfers.begin(), transfers.end());
  }
  for (const std::uint32_t number : cards) {
    job.cards.push_back(cards_[number]);
    servers.insert(topology_->server_of(cards_[number]));
    std::vector<Transfer>& transfers = by_card[number];
    std::ranges::sort(transfers, {}, &Transfer::start);
    std::vector<double> intervals;
    for (std::size_t i = 1; i < transfers.size(); ++i)
      intervals.push_back(
          std::log(1e-6 + static_cast<double>(transfers[i].start - transfers[i - 1].start) / 1e9));
    GroupFlows steps;
    steps.cards = {cards_[number]};
    for (const std::size_t at : change_points(intervals, kEvery)) {
      if (intervals[at] < mean(intervals)) continue;  // back to the short ones
      steps.ends.push_back(transfers[at].end);
    }
    if (steps.ends.empty()) continue;
    job.clock_of[cards_[number]] = job.groups.size();
    job.groups.push_back(std::move(steps));
  }
  for (const std::uint32_t server : servers)
    if (server != kNone) job.servers.push_back(topology_->servers()[server]);
  return job;
}

/// The switch whose mean bandwidth in [from, to] is far below that of the others; empty: none.
std::string PaperRules::slow_switch(const JobFlows& job, const std::map<Pair, Label>& labels,
                                    TimeNs from, TimeNs to) const {
  const std::set<Address> own(job.cards.begin(), job.cards.end());
  std::map<std::string, std::vector<double>> rates;
  for (const auto& [pair, transfers] : pairs_) {
    const auto* known = topology_->card(cards_[pair.first]);
    if (known == nullptr || !own.contains(cards_[pair.first]) || labels.at(pair) != Label::data)
      continue;
    for (const Transfer& one : transfers)
      if (one.end > from && one.end <= to && one.end > one.start)
        rates[known->leaf].push_back(static_cast<double>(one.bytes) /
                                     static_cast<double>(one.end - one.start));
  }
  std::vector<double> means;
  means.reserve(rates.size());
  for (const auto& [leaf, all] : rates) means.push_back(mean(all));
  const double low = mean(means) - kPaperSigmas * deviation(means);
  for (const auto& [leaf, all] : rates)
    if (mean(all) < low) return leaf;
  return {};
}

void PaperRules::diagnose(JobFlows& job, const std::map<Pair, Label>& labels) const {
  const GroupFlows* most = nullptr;
  for (const GroupFlows& group : job.groups)
    if (most == nullptr || group.ends.size() > most->ends.size()) most = &group;
  if (most == nullptr) return;
  std::vector<TimeNs> lengths;
  std::vector<double> seconds;
  for (std::size_t i = 1; i < most->ends.size(); ++i) {
    lengths.push_back(most->ends[i] - most->ends[i - 1]);
    seconds.push_back(static_cast<double>(lengths.back()) / 1e9);
    job.steps.emplace_back(most->ends[i - 1], most->ends[i]);
  }
  job.period = median(lengths);
  const double limit = mean(seconds) + kPaperSigmas * deviation(seconds);
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (seconds[i] <= limit) continue;
    FlowFinding finding;
    finding.cause = Cause::slow_gpu;
    finding.since = job.steps[i].first;
    finding.at = job.steps[i].second;
    finding.steps = 1;
    finding.factor = seconds[i] / std::max(1e-9, mean(seconds));
    if (auto name = slow_switch(job, labels, finding.since, finding.at); !name.empty()) {
      finding.cause = Cause::congested_switch;
      finding.place.push_back(std::move(name));
    }
    job.findings.push_back(std::move(finding));
  }
}

FlowReport PaperRules::finish() {
  const std::map<Pair, Label> labels = identify();
  for (const auto& cards : recognise()) {
    JobFlows job = reconstruct(cards, labels);
    job.name = "flows-" + std::to_string(report_.jobs.size() + 1);
    diagnose(job, labels);
    report_.jobs.push_back(std::move(job));
  }
  report_.cards = cards_.size();
  report_.streams = pairs_.size();
  return std::move(report_);
}

}  // namespace l4::flows
