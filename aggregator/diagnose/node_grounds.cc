#include <algorithm>
#include <array>
#include <cmath>

#include "aggregator/diagnose/certainty.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/diagnose.h"

namespace l4::diagnose {
namespace {

using clues::ClueKind;
using clues::GroundKind;

/// What kind of evidence a clue is.
GroundKind evidence_of(ClueKind kind) {
  using enum clues::GroundKind;
  switch (kind) {
    case ClueKind::process_stopped:
    case ClueKind::process_traced:
    case ClueKind::process_waits:
    case ClueKind::process_gone:
    case ClueKind::process_followed:
    case ClueKind::agent_lost:
      return node_by_process;
    case ClueKind::cause:
      return node_by_line;
    case ClueKind::accuser:
    case ClueKind::echo:
      return node_by_echo;
    case ClueKind::blamed:
    case ClueKind::named_by_peers:
      return node_by_accusation;
    case ClueKind::first:
    case ClueKind::first_to_echo:
      return node_by_order;
    case ClueKind::silent:
    case ClueKind::silent_launcher:
    case ClueKind::silent_first:
    case ClueKind::habit_stopped:
    case ClueKind::behind:
    case ClueKind::logs_stopped:
    case ClueKind::nic_silent_first:
    case ClueKind::network_first:
    case ClueKind::absent:
      return node_by_silence;
    default:
      return node_by_comparison;
  }
}

/// The node of a clue, counted as in Suspects::node_order.
std::uint32_t node_of(const job::JobView& view, const clues::Clue& clue) {
  if (clue.whose == clues::Whose::rank) return view.ranks[clue.index].node;
  const auto nodes = static_cast<std::uint32_t>(view.nodes.size());
  return clue.whose == clues::Whose::node ? clue.index : nodes + clue.index;
}

struct Evidence {
  GroundKind strongest = GroundKind::node_by_order;
  std::size_t kinds = 0;  ///< of clues that count
};

Evidence evidence_against(const Built& built, std::uint32_t node) {
  std::array<double, clues::kClueKinds> adds = {};
  for (const WeighedClue& weighed : built.suspects.clues)
    if (node_of(built.findings.view, weighed.clue) == node) {
      double& most = adds[static_cast<std::size_t>(weighed.clue.kind)];
      most = std::max(most, weighed.adds);
    }
  const auto best = std::ranges::max_element(adds);
  const double least = numbers::diagnose().agreeing_part * built.suspects.node(node).score;
  return {evidence_of(static_cast<ClueKind>(best - adds.begin())),
          static_cast<std::size_t>(
              std::ranges::count_if(adds, [&](double one) { return one > 0 && one >= least; }))};
}

}  // namespace

clues::Grounds node_grounds(const Built& built, State state) {
  using enum clues::GroundKind;
  const auto& order = built.suspects.node_order;
  const detect::FailureEvents& failures = built.findings.failures;
  const job::JobView& view = built.findings.view;
  const double best = built.suspects.node(order.front()).score;
  const double next = order.size() > 1 ? built.suspects.node(order[1]).score : 0;
  const auto alike = std::ranges::count_if(order, [&](std::uint32_t node) {
    return built.suspects.node(node).score >= numbers::diagnose().alike * best;
  });
  const bool most = 3 * alike > 2 * static_cast<std::ptrdiff_t>(view.nodes.size()) && alike > 1;
  const Evidence evidence = evidence_against(built, order.front());
  return {
      {node_base},
      {evidence.strongest},
      {node_score, best / (1 + best)},
      {node_margin, (best - next) / best},
      {node_alike, std::log(static_cast<double>(alike))},
      {node_crowd, clues::flag(alike > numbers::diagnose().crowd_over || most)},
      {node_many, std::log(static_cast<double>(std::max<std::size_t>(1, view.nodes.size())))},
      {node_agreeing, std::log(static_cast<double>(std::max<std::size_t>(1, evidence.kinds)))},
      {node_hung, clues::flag(state == State::hung)},
      {node_launch, clues::flag(state == State::launch_failed)},
      {node_slow, clues::flag(state == State::slow)},
      {node_compared, clues::flag(failures.compared)},
      {node_unread, clues::flag(!failures.worded)},
      {node_pooled, clues::flag(failures.pooled)},
      {node_missing, missing_share(view)},
      {node_outsider, clues::flag(order.front() >= view.nodes.size())},
  };
}

std::vector<double> node_confidences(const std::vector<double>& scores, double first) {
  std::vector<double> shares;
  double sum = numbers::diagnose().share_none - 1;  // without the first one's
  for (const double score : scores) {
    shares.push_back(std::exp(numbers::diagnose().share_sharpness * (score - scores.front())));
    sum += shares.back();
  }
  for (double& share : shares) share = std::min(first, (1 - first) * share / sum);
  if (!shares.empty()) shares.front() = first;
  return shares;
}

}  // namespace l4::diagnose
