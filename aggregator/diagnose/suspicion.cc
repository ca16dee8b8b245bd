#include "aggregator/diagnose/suspicion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "aggregator/diagnose/clues/scale.h"
#include "aggregator/diagnose/clues/sentence.h"
#include "aggregator/job/view.h"
#include "common/base/check.h"
#include "common/base/earliest.h"

namespace l4::diagnose {
namespace {

/// The source of what was said of a node beside its ranks, as a subject.
std::string_view speaker(const job::JobView& view, const job::RankView& launcher) {
  const auto are_all = [&](wire::SourceKind kind) {
    return std::ranges::all_of(launcher.streams, [&](std::uint32_t stream) {
      return view.streams[stream].state->source.kind == kind;
    });
  };
  if (are_all(wire::SourceKind::kernel)) return "its node's kernel";
  return are_all(wire::SourceKind::launcher) ? "its launcher" : "its node's log";
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
        ranks[*best].why.push_back(fmt::format("{} {}", speaker(view, view.ranks[rank]), why));
    }
  }
}

/// The rank of a node with the most against it; none on a node without any.
std::optional<std::uint32_t> most_suspect(const job::NodeView& node,
                                          const std::vector<Suspicion>& ranks) {
  const auto most = std::ranges::max_element(node.ranks, {},
                                             [&](std::uint32_t rank) { return ranks[rank].score; });
  return most == node.ranks.end() ? std::nullopt : std::optional(*most);
}

/// What the sources without a rank say on a node concerns the rank of it that lines name, where no
/// rank of the node has more against it.
void pass_on_home(const job::JobView& view, const std::vector<detect::Outsider>& outsiders,
                  Suspects& suspects) {
  for (std::size_t i = 0; i < outsiders.size(); ++i) {
    if (!outsiders[i].home || !outsiders[i].rank) continue;
    const auto most = most_suspect(view.nodes[*outsiders[i].home], suspects.ranks);
    if (!most || view.ranks[*most].rank) continue;
    Suspicion& named = suspects.outsiders[i];
    const Suspicion& from = suspects.ranks[*most];
    named.score += from.score;
    named.why.insert(named.why.end(), from.why.begin(), from.why.end());
    keep_earliest(named.first_seen, from.first_seen);
  }
}

/// Adds the clues of one rank, node or outsider up; they come in the order of their reasons.
class Sum {
 public:
  Sum(Suspicion& into, const clues::Scale& scale) : into_(into), scale_(scale) {}

  void add(WeighedClue& weighed) {
    const clues::Clue& clue = weighed.clue;
    const clues::ClueRow& row = scale_.row(clue.kind);
    const double worth = row.weight * clue.strength;
    if (clue.event) into_.events.push_back(*clue.event);
    if (row.further < 1) {
      weighed.adds = row.further * worth;
      if (worth > best_worth_) {
        best_ = &weighed;
        best_worth_ = worth;
      }
    } else {
      settle();
      double& added = added_[static_cast<std::size_t>(clue.kind)];
      weighed.adds = std::min(worth, row.cap - added);
      added += weighed.adds;
      if (clue.told) tell(clue);
    }
    into_.score += weighed.adds;
  }

  /// Gives the strongest of many clues its full worth. Call it behind the last clue.
  void settle() {
    if (best_ == nullptr) return;
    const double rest = best_worth_ - best_->adds;
    best_->adds += rest;
    into_.score += rest;
    if (best_->clue.told) tell(best_->clue);
    best_ = nullptr;
  }

 private:
  void tell(const clues::Clue& clue) {
    constexpr std::size_t kReasonsMax = 6;
    if (into_.why.size() < kReasonsMax) into_.why.push_back(clues::sentence(clue.kind, clue.facts));
  }

  Suspicion& into_;
  const clues::Scale& scale_;
  std::array<double, clues::kClueKinds> added_ = {};
  WeighedClue* best_ = nullptr;
  double best_worth_ = 0;
};

}  // namespace

Suspects weigh(const job::JobView& view, std::size_t outsiders, std::vector<clues::Clue> clues,
               const clues::Scale& scale) {
  Suspects suspects;
  suspects.ranks.resize(view.ranks.size());
  suspects.nodes.resize(view.nodes.size());
  suspects.outsiders.resize(outsiders);
  suspects.clues.reserve(clues.size());
  for (clues::Clue& clue : clues) suspects.clues.push_back({std::move(clue), 0});
  std::vector<Sum> ranks, others;
  for (Suspicion& rank : suspects.ranks) ranks.emplace_back(rank, scale);
  for (Suspicion& outsider : suspects.outsiders) others.emplace_back(outsider, scale);
  for (WeighedClue& one : suspects.clues) {
    if (one.clue.whose == clues::Whose::rank) ranks[one.clue.index].add(one);
    if (one.clue.whose == clues::Whose::outsider) others[one.clue.index].add(one);
  }
  for (Sum& rank : ranks) rank.settle();
  for (Sum& outsider : others) outsider.settle();
  for (WeighedClue& one : suspects.clues) {
    if (one.clue.whose != clues::Whose::node) continue;
    if (const auto most = most_suspect(view.nodes[one.clue.index], suspects.ranks))
      ranks[*most].add(one);
  }
  return suspects;
}

Suspects order_suspects(const job::JobView& view, const std::vector<detect::Outsider>& outsiders,
                        Suspects suspects) {
  L4_CHECK(suspects.nodes.size() == view.nodes.size() && suspects.ranks.size() == view.ranks.size(),
           "{} nodes and {} ranks are scored of {} and {}", suspects.nodes.size(),
           suspects.ranks.size(), view.nodes.size(), view.ranks.size());
  L4_CHECK(suspects.outsiders.size() == outsiders.size(), "{} outsiders are scored of {}",
           suspects.outsiders.size(), outsiders.size());
  pass_on_launchers(view, suspects.ranks);
  pass_on_home(view, outsiders, suspects);
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
