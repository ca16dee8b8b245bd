#include <algorithm>
#include <cmath>
#include <set>

#include "aggregator/diagnose/clues/sources.h"
#include "aggregator/diagnose/findings/pool.h"
#include "aggregator/diagnose/findings/states.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/clues.h"

namespace l4::diagnose::clues {
namespace {

/// Ranks of the node that print the event; all of its ranks where none does.
std::set<std::uint32_t> ranks_on(const job::JobView& view, std::uint32_t node,
                                 const job::EventView& event) {
  std::set<std::uint32_t> ranks;
  for (const job::Occurrence& at : event.at)
    if (const job::StreamView& stream = view.streams[at.stream]; stream.node == node)
      ranks.insert(stream.rank);
  if (ranks.empty()) ranks.insert(view.nodes[node].ranks.begin(), view.nodes[node].ranks.end());
  return ranks;
}

/// Nodes by the lines that healthy runs do not print: the fewer nodes print one, the more.
std::vector<Clue> unread(const Scene& scene) {
  const job::JobView& view = scene.view();
  std::vector<double> sums(view.nodes.size(), 0);
  bool pooled = false;
  for (std::uint32_t i = 0; i < view.events.size(); ++i) {
    if (scene.findings.hints.events[i].in_pool) {
      pooled = true;
      continue;
    }
    const auto counts = counts_by_node(view, view.events[i]);
    const auto without = static_cast<std::size_t>(std::ranges::count(counts, std::uint64_t{0}));
    const std::size_t nodes = counts.size() - without;
    if (2 * nodes > counts.size()) continue;
    for (std::size_t node = 0; node < counts.size(); ++node)
      if (counts[node] > 0) sums[node] += rarity(nodes, counts.size());
  }
  std::vector<Clue> clues;
  if (!pooled) return clues;
  for (std::uint32_t node = 0; node < sums.size(); ++node) {
    if (sums[node] <= 0) continue;
    Clue clue{ClueKind::isolated, Whose::node, node, sums[node] / (1 + sums[node])};
    clue.told = false;
    clues.push_back(std::move(clue));
  }
  return clues;
}

}  // namespace

/// Nodes that differed while the job ran: from their own past and from their peers.
std::vector<Clue> windows(const Scene& scene) {
  const auto& nodes = scene.findings.differences.nodes;
  std::vector<Clue> clues;
  for (const detect::spatial::NodeDifference& node : nodes) {
    const double strength =
        rarity(nodes.size(), scene.nodes()) *
        std::min(1.0, node.explanation / std::log(static_cast<double>(scene.nodes())));
    const job::EventView& event = scene.view().events[node.events.front().event];
    for (const std::uint32_t rank : ranks_on(scene.view(), node.node, event)) {
      Clue clue{ClueKind::differs, Whose::rank, rank, strength};
      clue.facts = facts_of(event);
      clues.push_back(std::move(clue));
    }
  }
  return clues;
}

/// Of a job that goes on, or has ended well, new lines tell of a node where no words speak for it.
std::vector<Clue> forest(const Scene& scene) {
  std::vector<Clue> clues;
  if (!has_suspects(scene.state)) {
    if (scene.findings.apart.worded && scene.findings.failures.worded) return clues;
    clues = unread(scene);
  }
  if (!scene.findings.spatial || scene.nodes() < numbers::clues().forest_nodes_min) return clues;
  for (const detect::spatial::NodeScore& node : scene.findings.spatial->nodes) {
    if (node.isolation <= 0) continue;
    Clue clue{ClueKind::isolated, Whose::node, static_cast<std::uint32_t>(node.node),
              node.isolation};
    clue.told = false;
    clues.push_back(std::move(clue));
  }
  return clues;
}

}  // namespace l4::diagnose::clues
