#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "aggregator/flows/learn.h"
#include "aggregator/flows/numbers.h"
#include "aggregator/flows/union_find.h"

namespace l4::flows {
namespace {

/// Ends of the steps of a part of the network.
struct Clock {
  std::vector<TimeNs> ends;
  TimeNs period = 0;
  std::uint64_t bytes = 0;  ///< of the group that gave it
};

using Tracks = std::map<std::uint32_t, const Track*>;

Clock clock_of(const Group& group) {
  Clock clock{{}, group.rule->period, group.bytes};
  StepCounter counter(*group.rule);
  for (const Beat& beat : group.beats)
    if (const auto boundary = counter.add(beat)) clock.ends.push_back(boundary->end);
  return clock;
}

/// How far the steps of two clocks drift against each other, as a share of the period: near zero
/// in one job. None if they have too little in common to tell.
std::optional<double> drift(const Clock& one, const Clock& two) {
  constexpr std::size_t kCommonMin = 5;
  constexpr double kPeriods = 0.9;
  if (std::min(one.period, two.period) <= 0) return std::nullopt;
  const double ratio = static_cast<double>(one.period) / static_cast<double>(two.period);
  if (ratio < kPeriods || ratio > 1 / kPeriods) return 1.0;
  std::vector<double> distances;
  for (const TimeNs end : one.ends) {
    const auto at = std::ranges::lower_bound(two.ends, end);
    TimeNs best = std::numeric_limits<TimeNs>::max();
    if (at != two.ends.end()) best = *at - end;
    if (at != two.ends.begin() && end - at[-1] < std::abs(best)) best = at[-1] - end;
    if (std::abs(best) < one.period) distances.push_back(static_cast<double>(best));
  }
  if (distances.size() < kCommonMin) return std::nullopt;
  return scatter(distances) / static_cast<double>(one.period);
}

/// `quick` counts parts of the steps of `slow`, such as micro-batches: steps end at the same place
/// within a part, each time. Clocks of two jobs meet anywhere.
bool counts_parts(const Clock& quick, const Clock& slow) {
  constexpr std::size_t kCommonMin = 12;  // by chance, half of so many never stand so close
  constexpr double kLonger = 1.9, kFixed = 0.05;
  if (quick.period <= 0 ||
      static_cast<double>(slow.period) < kLonger * static_cast<double>(quick.period))
    return false;
  std::vector<double> since;
  for (const TimeNs end : slow.ends) {
    const auto next = std::ranges::upper_bound(quick.ends, end);
    if (next != quick.ends.begin() && next != quick.ends.end() && end - next[-1] < quick.period)
      since.push_back(static_cast<double>(end - next[-1]));
  }
  return since.size() >= kCommonMin && scatter(since) < kFixed * static_cast<double>(quick.period);
}

/// Groups that count parts of steps tell no steps.
void drop_clocks(JobPlan& part, TimeNs period) {
  constexpr double kAlike = 0.1;
  for (Group& group : part.groups)
    if (group.rule && std::abs(static_cast<double>(group.rule->period - period)) <
                          kAlike * static_cast<double>(period))
      group.rule.reset();
}

/// Pipeline streams as clocks, where a part has no collective that gives one.
void add_pipe_clocks(JobPlan& job, const Tracks& by_stream, const ExporterSettings& exporter) {
  constexpr std::size_t kClocksMax = 16;
  if (exporter.is_vague()) return;  // single messages are missing too often to be counted
  std::size_t added = 0;
  for (const Edge& pipe : job.pipes) {
    if (added == kClocksMax) return;
    Group group;
    group.label = Label::pipeline;
    group.edges = {pipe};
    group.cards = {std::min(pipe.src, pipe.dst), std::max(pipe.src, pipe.dst)};
    const Track& track = *by_stream.at(pipe.stream);
    for (const Row& row : track.rows) group.bytes += row.bytes;
    group.events.hold += exporter.inactive + exporter.inactive / 4;
    group.beats = beats_of(group, {&track});
    group.rule = learn_steps(group.beats, {});
    if (!group.rule) continue;
    job.groups.push_back(std::move(group));
    ++added;
  }
}

/// Most steps are as long as the one before; a clock that is not so tells no two jobs apart.
bool is_steady(const Clock& clock) {
  constexpr double kAlike = 0.1, kMost = 0.7;
  std::size_t alike = 0, all = 0;
  for (std::size_t i = 2; i < clock.ends.size(); ++i, ++all) {
    const auto one = static_cast<double>(clock.ends[i - 1] - clock.ends[i - 2]);
    const auto two = static_cast<double>(clock.ends[i] - clock.ends[i - 1]);
    alike += std::abs(two - one) < kAlike * static_cast<double>(clock.period);
  }
  return all > 0 && static_cast<double>(alike) > kMost * static_cast<double>(all);
}

Clock best_clock(const JobPlan& job) {
  const Group* best = nullptr;
  const auto is_better = [&](const Group& group) {
    if (best == nullptr) return true;
    const bool is_data = group.label == Label::data, was_data = best->label == Label::data;
    if (is_data != was_data) return is_data;
    if (group.rule->is_bursty != best->rule->is_bursty) return group.rule->is_bursty;
    return group.bytes > best->bytes;
  };
  for (const Group& group : job.groups)
    if (group.rule && is_better(group)) best = &group;
  if (best == nullptr) return {};
  const Clock clock = clock_of(*best);
  return is_steady(clock) ? clock : Clock();
}

/// Context parallelism on cards whose own gradient group has no step clock: the job's will do.
void tell_context(JobPlan& job, const Tracks& by_stream) {
  constexpr double kBurst = 0.5, kFills = 0.4, kMore = 1.5;
  std::vector<TimeNs> periods;
  for (const Group& group : job.groups)
    if (group.rule && group.label == Label::data && group.rule->spread() < kBurst)
      periods.push_back(group.rule->period);
  if (periods.empty()) return;
  const TimeNs period = median(std::move(periods));
  // How much of a step a group fills costs a sort of its rows: only where it is asked for.
  std::vector<std::optional<double>> fills(job.groups.size());
  const auto fill = [&](std::size_t index) {
    if (fills[index]) return *fills[index];
    std::vector<const Track*> tracks;
    tracks.reserve(job.groups[index].edges.size());
    for (const Edge& edge : job.groups[index].edges) tracks.push_back(by_stream.at(edge.stream));
    fills[index] = fill_of(tracks, period);
    return *fills[index];
  };
  std::map<std::uint32_t, std::vector<std::size_t>> of_card;
  for (std::size_t i = 0; i < job.groups.size(); ++i)
    for (const std::uint32_t card : job.groups[i].cards) of_card[card].push_back(i);
  for (std::size_t i = 0; i < job.groups.size(); ++i) {
    Group& group = job.groups[i];
    if (group.label != Label::data || group.rule) continue;
    double other = fill(i);
    for (const std::size_t beside : of_card.at(group.cards.front()))
      other = std::min(other, fill(beside));
    if (other < kBurst && fill(i) > kFills && fill(i) > kMore * other) group.label = Label::context;
  }
}

/// Stages of a pipeline send to each other, activations one way and gradients the other. What goes
/// one way only has no label: a ring, say, of which records are too coarse to show that it is one.
void add_pairs(JobPlan& job) {
  for (const Group& group : job.groups)
    for (const Edge& edge : group.edges) job.pairs[{edge.src, edge.dst}].insert(group.label);
  std::set<std::pair<std::uint32_t, std::uint32_t>> sends;
  for (const Edge& edge : job.pipes) sends.emplace(edge.src, edge.dst);
  for (const Edge& edge : job.pipes) {
    auto& labels = job.pairs[{edge.src, edge.dst}];
    if (sends.contains({edge.dst, edge.src})) labels.insert(Label::pipeline);
  }
  for (const Edge& edge : job.experts) job.pairs[{edge.src, edge.dst}].insert(Label::expert);
}

void absorb(JobPlan& into, JobPlan&& from) {
  into.cards.insert(into.cards.end(), from.cards.begin(), from.cards.end());
  std::ranges::move(from.groups, std::back_inserter(into.groups));
  std::ranges::move(from.pipes, std::back_inserter(into.pipes));
  std::ranges::move(from.experts, std::back_inserter(into.experts));
}

/// Parts that are connected by pairs, each as a job.
std::vector<JobPlan> connected_parts(std::size_t cards, const std::vector<Track>& tracks,
                                     Labelled labelled) {
  UnionFind sets(cards);
  for (const Track& track : tracks) sets.join(track.src, track.dst);
  std::map<std::uint32_t, JobPlan> parts;
  std::vector<bool> seen(cards);
  for (const Track& track : tracks)
    for (const std::uint32_t card : {track.src, track.dst}) {
      if (seen[card]) continue;
      seen[card] = true;
      parts[sets.find(card)].cards.push_back(card);
    }
  for (Group& group : labelled.groups)
    parts[sets.find(group.cards.front())].groups.push_back(std::move(group));
  for (const Edge& edge : labelled.pipes) parts[sets.find(edge.src)].pipes.push_back(edge);
  for (const Edge& edge : labelled.experts) parts[sets.find(edge.src)].experts.push_back(edge);
  std::vector<JobPlan> all;
  all.reserve(parts.size());
  for (auto& [set, part] : parts) all.push_back(std::move(part));
  return all;
}

}  // namespace

std::vector<JobPlan> join_jobs(const StreamTable& table, const std::vector<Track>& tracks,
                               Labelled labelled, const ExporterSettings& exporter) {
  constexpr double kTogether = 0.015, kSamePeriod = 0.02;
  Tracks by_stream;
  for (const Track& track : tracks) by_stream[track.stream] = &track;
  std::vector<JobPlan> parts = connected_parts(table.cards().size(), tracks, std::move(labelled));
  std::vector<Clock> clocks;
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_server;
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    if (std::ranges::none_of(parts[i].groups, [](const Group& g) { return g.rule.has_value(); }))
      add_pipe_clocks(parts[i], by_stream, exporter);
    clocks.push_back(best_clock(parts[i]));
    std::set<std::uint32_t> servers;
    for (const std::uint32_t card : parts[i].cards) servers.insert(table.cards()[card].server);
    for (const std::uint32_t server : servers) by_server[server].push_back(i);
  }
  // Without a topology any two parts may share a server; then only equal clocks join them.
  const bool is_known = !table.topology().empty();
  UnionFind sets(parts.size());
  std::vector<bool> counts_less(parts.size());
  for (const auto& [server, own] : by_server)
    for (std::size_t i = 0; i < own.size(); ++i)
      for (std::size_t k = i + 1; k < own.size(); ++k) {
        if (is_known && server != kNone) {
          const bool is_first = counts_parts(clocks[own[i]], clocks[own[k]]);
          if (is_first || counts_parts(clocks[own[k]], clocks[own[i]])) {
            counts_less[own[is_first ? i : k]] = true;
            sets.join(own[i], own[k]);
          }
        }
        if (sets.find(own[i]) == sets.find(own[k])) continue;
        auto apart = drift(clocks[own[i]], clocks[own[k]]);
        // Lost events move the ends of steps, but not their typical length.
        const double ratio = static_cast<double>(clocks[own[i]].period) /
                             static_cast<double>(std::max<TimeNs>(1, clocks[own[k]].period));
        if (apart && exporter.is_vague() && std::abs(ratio - 1) < kSamePeriod) apart = 0;
        if (apart ? *apart < kTogether : is_known && server != kNone) sets.join(own[i], own[k]);
      }
  std::map<std::uint32_t, JobPlan> joined;
  for (std::uint32_t i = 0; i < parts.size(); ++i)
    if (counts_less[i]) drop_clocks(parts[i], clocks[i].period);
  for (std::uint32_t i = 0; i < parts.size(); ++i)
    absorb(joined[sets.find(i)], std::move(parts[i]));
  std::vector<JobPlan> jobs;
  for (auto& [set, job] : joined) {
    std::ranges::sort(job.cards);
    tell_context(job, by_stream);
    for (Group& group : job.groups) group.beats = {};
    add_pairs(job);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace l4::flows
