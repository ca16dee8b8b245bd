#include "aggregator/diagnose/certainty.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "aggregator/diagnose/clues/scale.h"
#include "aggregator/diagnose/findings/states.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/diagnose.h"

namespace l4::diagnose {
namespace {

Certainty certainty_of(clues::Claim claim, std::string name, double confidence,
                       const clues::Grounds& grounds) {
  Certainty certainty{claim, std::move(name), confidence, {}, {}, {}};
  for (const clues::Ground& ground : grounds)
    if (ground.value != 0)
      certainty.grounds.push_back({std::string(clues::name(ground.kind)), ground.value});
  return certainty;
}

/// Each doubt is as likely as another: two that lead to one state make it twice as likely.
void add_states(const std::vector<Doubt>& doubts, double rest, Certainty& certainty) {
  if (doubts.empty()) {
    certainty.alternatives.push_back({std::nullopt, rest});
    return;
  }
  const double each = rest / static_cast<double>(doubts.size());
  for (const Doubt& doubt : doubts) {
    const std::string state(name(doubt.instead));
    const auto known = std::ranges::find(certainty.alternatives, state, &ClaimShare::name);
    if (known != certainty.alternatives.end())
      known->share += each;
    else
      certainty.alternatives.push_back({state, each});
  }
  std::ranges::stable_sort(certainty.alternatives, std::greater<>{}, &ClaimShare::share);
}

/// What would tell whether the fact holds; {} stands for the first suspect.
std::string decider(Fact fact, const std::string& suspect, const std::string& node) {
  switch (fact) {
    case Fact::fatal:
    case Fact::peer_lost:
      return fmt::format("stderr of {}", suspect);
    case Fact::waited:
    case Fact::stood:
      return fmt::format("stacks of all processes while the job stands, first of {}", suspect);
    case Fact::untimed:
      return "the same logs with a time on each line";
    case Fact::lost:
      return fmt::format("kernel log of {}", node);
    case Fact::untrained:
    case Fact::opening:
    case Fact::starting:
      return "the lines before the first that was read";
    case Fact::slowed:
    case Fact::dragged:
      return "a healthy run of the same job (--history)";
    case Fact::overdue:
    case Fact::blind:
      return "the same logs some minutes later, or when they were collected (--as-of)";
    case Fact::stopped:
      return "the batch system's record of the job";
    default:
      return "exit codes of the processes";
  }
}

constexpr std::size_t kDecidersMax = 3;

void decide_by(std::string text, Certainty& certainty) {
  auto& by = certainty.decided_by;
  if (by.size() < kDecidersMax && std::ranges::find(by, text) == by.end())
    by.push_back(std::move(text));
}

bool has_kernel_log(const job::JobView& view, std::string_view node) {
  return std::ranges::any_of(view.streams, [&](const job::StreamView& stream) {
    return stream.state->source.kind == wire::SourceKind::kernel &&
           view.nodes[stream.node].name == node;
  });
}

/// "rank 3", else the node, else "the first suspect".
std::string first_suspect(const Report& report) {
  for (const SuspectRank& rank : report.ranks)
    if (rank.rank) return fmt::format("rank {}", rank.rank->value());
  return report.nodes.empty() ? "each rank" : report.nodes.front().node;
}

/// Nodes that are about as likely as the first: their kernels know of devices, links and kills.
void ask_nodes(const job::JobView& view, const Report& report, Certainty& certainty) {
  for (const SuspectNode& node : report.nodes) {
    if (node.confidence < numbers::diagnose().ask_near * report.nodes.front().confidence) break;
    if (has_kernel_log(view, node.node)) continue;
    decide_by("kernel log of " + node.node, certainty);
  }
  decide_by("stderr of " + first_suspect(report), certainty);
}

Certainty certainty_of_state(const VerdictInput& input, Facts known, const clues::Scale& scale) {
  const clues::Grounds grounds = state_grounds(input, known);
  const State state = row_of(known).state;
  Certainty certainty = certainty_of(clues::Claim::state, std::string(name(state)),
                                     clues::confidence(grounds, scale.grounds), grounds);
  const bool says = state != State::unknown;
  if (says) certainty.alternatives.push_back({certainty.name, certainty.confidence});
  Certainty others = certainty;
  others.alternatives.clear();
  add_states(doubts_of(known), says ? 1 - certainty.confidence : 1, others);
  std::ranges::move(others.alternatives, std::back_inserter(certainty.alternatives));
  return certainty;
}

Certainty certainty_of_event(const Built& built, const clues::Scale& scale, const Report& report) {
  const clues::Grounds grounds = event_grounds(built, report);
  const IndicatingEvent& first = report.events.front();
  Certainty certainty = certainty_of(clues::Claim::event, to_string(first.id),
                                     clues::confidence(grounds, scale.grounds), grounds);
  certainty.alternatives.push_back({certainty.name, certainty.confidence});
  std::vector<const IndicatingEvent*> rivals;
  for (const IndicatingEvent& event : report.events)
    if (event.role == first.role && &event != &first && rivals.size() < kDecidersMax)
      rivals.push_back(&event);
  // The rest is shared by those next in order and by what no line says.
  const double each = (1 - certainty.confidence) / static_cast<double>(rivals.size() + 1);
  for (const IndicatingEvent* const rival : rivals)
    certainty.alternatives.push_back({to_string(rival->id), each});
  certainty.alternatives.push_back({std::nullopt, each});
  return certainty;
}

}  // namespace

Certainty certainty_of_node(const clues::Grounds& grounds, const Report& report) {
  const SuspectNode& first = report.nodes.front();
  Certainty certainty = certainty_of(clues::Claim::node, first.node, first.confidence, grounds);
  double rest = 1;
  for (const SuspectNode& node : report.nodes) {
    if (&node != &first && node.confidence < numbers::diagnose().worth_naming) break;
    certainty.alternatives.push_back({node.node, node.confidence});
    rest -= node.confidence;
  }
  certainty.alternatives.push_back({std::nullopt, std::max(0.0, rest)});
  return certainty;
}

void say_how_sure(const VerdictInput& input, Facts known, const clues::Scale& scale,
                  Report& report) {
  report.certainty.push_back(certainty_of_state(input, known, scale));
  report.verdict.confidence = report.certainty.back().confidence;
}

void say_how_sure(const Built& built, const clues::Scale& scale, Report& report) {
  // Nodes of a job that goes on, or has ended well, and tells of no fault only differ.
  const bool claims = has_suspects(report.verdict.state) || !report.events.empty();
  if (!report.nodes.empty()) {
    const clues::Grounds grounds = node_grounds(built, report.verdict.state);
    std::vector<double> scores;
    scores.reserve(report.nodes.size());
    for (const SuspectNode& node : report.nodes) scores.push_back(node.score);
    const double first =
        clues::confidence(grounds, scale.grounds) * (claims ? 1.0 : 1 - report.verdict.confidence);
    const auto shares = node_confidences(scores, first);
    for (std::size_t i = 0; i < shares.size(); ++i) report.nodes[i].confidence = shares[i];
    if (claims) report.certainty.push_back(certainty_of_node(grounds, report));
  }
  if (report.events.empty()) return;
  report.certainty.push_back(certainty_of_event(built, scale, report));
  report.events.front().confidence = report.certainty.back().confidence;
}

void name_deciders(const job::JobView& view, Facts known, Report& report) {
  const std::string suspect = first_suspect(report);
  const std::string node = report.nodes.empty() ? "each node" : report.nodes.front().node;
  for (Certainty& certainty : report.certainty) {
    if (certainty.confidence >= numbers::diagnose().sure) continue;
    switch (certainty.of) {
      case clues::Claim::state:
        for (const Doubt& doubt : doubts_of(known))
          decide_by(decider(doubt.fact, suspect, node), certainty);
        break;
      case clues::Claim::node:
        ask_nodes(view, report, certainty);
        break;
      case clues::Claim::event:
        decide_by("stderr of " + suspect, certainty);
        break;
    }
  }
}

}  // namespace l4::diagnose
