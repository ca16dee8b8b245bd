#include "aggregator/diagnose/paper.h"

#include <algorithm>
#include <set>

#include "aggregator/detect/spatial/paper.h"
#include "aggregator/detect/temporal/paper.h"
#include "aggregator/diagnose/clues/sentence.h"
#include "aggregator/job/view.h"

namespace l4::diagnose {
namespace {

using detect::FailureEvent;

/// Events that pass the cross-job filter, by JobView::events.
std::vector<std::uint32_t> kept_events(const Findings& findings) {
  std::vector<std::uint32_t> kept;
  for (std::uint32_t event = 0; event < findings.view.events.size(); ++event)
    if (!findings.hints.events[event].in_pool) kept.push_back(event);
  return kept;
}

Eigen::MatrixXd raw_counts(const job::JobView& view, const std::vector<std::uint32_t>& kept) {
  Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(view.nodes.size()),
                                                 static_cast<Eigen::Index>(kept.size()));
  for (std::size_t column = 0; column < kept.size(); ++column)
    for (const job::Occurrence& occurrence : view.events[kept[column]].at)
      counts(static_cast<Eigen::Index>(view.streams[occurrence.stream].node),
             static_cast<Eigen::Index>(column)) += static_cast<double>(occurrence.stats.count);
  return counts;
}

/// Adds the events of an abnormal iteration that none of the ten before it had.
void add_new_events(const std::vector<detect::temporal::StreamIteration>& stream, std::size_t at,
                    std::set<std::uint32_t>& events) {
  std::set<std::uint32_t> before;
  for (std::size_t i = at < 10 ? 0 : at - 10; i < at; ++i)
    before.insert(stream[i].events.begin(), stream[i].events.end());
  for (const std::uint32_t event : stream[at].events)
    if (!before.contains(event)) events.insert(event);
}

std::set<std::uint32_t> temporal_events(const detect::temporal::IterationSequences& sequences,
                                        detect::temporal::TemporalFindings& found) {
  std::set<std::uint32_t> events;
  for (std::uint32_t number = 0; number < sequences.job.streams.size(); ++number) {
    const auto& stream = sequences.job.streams[number];
    std::vector<detect::temporal::Sequence> printed;
    for (const auto& iteration : stream) printed.push_back(iteration.events);
    const auto scores = detect::temporal::score_iterations_paper(printed);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (!scores[i].abnormal) continue;
      add_new_events(stream, i, events);
      detect::temporal::Anomaly alarm;
      alarm.stream = number;
      alarm.iteration = stream[i].iteration;
      alarm.score = scores[i].score;
      alarm.threshold = scores[i].mean + 3 * scores[i].deviation;
      found.alarms.push_back(std::move(alarm));
    }
  }
  return events;
}

FailureEvent whole_event(const Findings& findings, std::uint32_t index) {
  const job::EventView& event = findings.view.events[index];
  FailureEvent failure;
  failure.event = index;
  failure.severity = findings.hints.events[index].severity;
  failure.first_stream = event.at.front().stream;
  for (std::uint32_t i = 0; i < event.at.size(); ++i) {
    failure.occurrences.push_back(i);
    const auto& time = event.at[i].time;
    if (!time || (failure.first_time && *failure.first_time <= *time)) continue;
    failure.first_time = time;
    failure.first_stream = event.at[i].stream;
  }
  return failure;
}

}  // namespace

PaperFindings diagnose_as_published(const Findings& findings, std::uint64_t seed) {
  PaperFindings paper;
  const auto kept = kept_events(findings);
  const auto nodes = detect::spatial::compare_nodes_paper(raw_counts(findings.view, kept), seed);
  paper.suspects.ranks.resize(findings.view.ranks.size());
  paper.suspects.nodes.resize(findings.view.nodes.size());
  paper.suspects.node_confidence.assign(findings.view.nodes.size(), 0.0);
  std::set<std::uint32_t> events;
  for (const detect::spatial::PaperNode& node : nodes) {
    const auto index = static_cast<std::uint32_t>(node.node);
    Suspicion& suspicion = paper.suspects.nodes[index];
    suspicion.score = node.score;
    paper.suspects.node_order.push_back(index);
    paper.suspects.node_confidence[index] = node.suspicious ? 0.5 : 0.0;
    clues::Clue clue{clues::ClueKind::as_published, clues::Whose::node, index, node.score};
    clue.facts = {{clues::FactKind::score, node.score}};
    suspicion.why.push_back(clues::sentence(clue.kind, clue.facts));
    paper.suspects.clues.push_back({std::move(clue), node.score});
    for (const Eigen::Index column : node.events) {
      events.insert(kept[static_cast<std::size_t>(column)]);
      suspicion.events.push_back(kept[static_cast<std::size_t>(column)]);
    }
    for (const std::uint32_t rank : findings.view.nodes[index].ranks) {
      paper.suspects.ranks[rank].score = node.score;
      paper.suspects.rank_order.push_back(rank);
    }
  }
  for (const std::uint32_t event : temporal_events(findings.sequences, paper.temporal))
    if (std::ranges::binary_search(kept, event)) events.insert(event);
  for (const std::uint32_t event : events)
    paper.failures.events.push_back(whole_event(findings, event));
  return paper;
}

}  // namespace l4::diagnose
