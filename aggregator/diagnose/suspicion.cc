#include "aggregator/diagnose/suspicion.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "aggregator/job/view.h"
#include "common/base/check.h"
#include "common/base/earliest.h"

namespace l4::diagnose {
namespace {

/// P(node is faulty): a soft maximum over the scores, shared out when several are alike.
std::vector<double> confidences(const std::vector<double>& scores) {
  constexpr double kSharpness = 2.5;
  double most = 0;
  for (const double score : scores) most = std::max(most, score);
  double sum = 0.4;  // weight of "none of these"
  std::vector<double> weights;
  for (const double score : scores) {
    weights.push_back(score <= 0 ? 0.0 : std::exp(kSharpness * (score - most)));
    sum += weights.back();
  }
  const double strength = std::min(1.0, most / 1.5);
  for (double& weight : weights) weight *= strength / sum;
  return weights;
}

/// Evidence from a launcher (an exit code, a killed process) concerns a rank of its node: the most
/// suspicious one.
void pass_on_launchers(const job::JobView& view, std::vector<Suspicion>& ranks) {
  for (const job::NodeView& node : view.nodes) {
    std::optional<std::uint32_t> best;
    for (const std::uint32_t rank : node.ranks)
      if (!view.ranks[rank].launcher && view.ranks[rank].lines > 0 &&
          (!best || ranks[rank].score > ranks[*best].score))
        best = rank;
    if (!best) continue;
    for (const std::uint32_t rank : node.ranks) {
      if (!view.ranks[rank].launcher || ranks[rank].score <= 0) continue;
      ranks[*best].score += ranks[rank].score;
      for (const std::string& why : ranks[rank].why)
        ranks[*best].why.push_back("its launcher " + why);
    }
  }
}

}  // namespace

Suspects order_suspects(const job::JobView& view, const std::vector<detect::Outsider>& outsiders,
                        Suspects suspects) {
  L4_CHECK(suspects.nodes.size() == view.nodes.size() && suspects.ranks.size() == view.ranks.size(),
           "{} nodes and {} ranks are scored of {} and {}", suspects.nodes.size(),
           suspects.ranks.size(), view.nodes.size(), view.ranks.size());
  L4_CHECK(suspects.outsiders.size() == outsiders.size(), "{} outsiders are scored of {}",
           suspects.outsiders.size(), outsiders.size());
  pass_on_launchers(view, suspects.ranks);
  for (std::uint32_t node = 0; node < view.nodes.size(); ++node) {
    Suspicion& sum = suspects.nodes[node];
    const Suspicion* best = nullptr;
    std::set<std::uint32_t> events;
    for (const std::uint32_t rank : view.nodes[node].ranks) {
      const Suspicion& own = suspects.ranks[rank];
      if (best == nullptr || own.score > best->score) best = &own;
      events.insert(own.events.begin(), own.events.end());
      keep_earliest(sum.first_seen, own.first_seen);
    }
    if (best == nullptr) continue;
    sum.score = best->score;
    sum.why = best->why;
    sum.events.assign(events.begin(), events.end());
  }
  std::vector<double> scores;
  scores.reserve(suspects.nodes.size() + outsiders.size());
  for (const Suspicion& node : suspects.nodes) scores.push_back(node.score);
  for (std::size_t i = 0; i < outsiders.size(); ++i)
    scores.push_back(outsiders[i].node.empty() ? 0.0 : suspects.outsiders[i].score);
  suspects.node_confidence = confidences(scores);
  for (std::uint32_t i = 0; i < scores.size(); ++i)
    if (scores[i] > 0) suspects.node_order.push_back(i);
  std::ranges::stable_sort(suspects.node_order, std::greater<>{},
                           [&](std::uint32_t i) { return scores[i]; });
  const auto ranks = static_cast<std::uint32_t>(suspects.ranks.size());
  for (std::uint32_t i = 0; i < ranks; ++i)
    if (suspects.ranks[i].score > 0) suspects.rank_order.push_back(i);
  for (std::uint32_t i = 0; i < outsiders.size(); ++i)
    if (outsiders[i].rank && suspects.outsiders[i].score > 0)
      suspects.rank_order.push_back(ranks + i);
  std::ranges::stable_sort(suspects.rank_order, std::greater<>{},
                           [&](std::uint32_t i) { return suspects.rank(i).score; });
  return suspects;
}

}  // namespace l4::diagnose
