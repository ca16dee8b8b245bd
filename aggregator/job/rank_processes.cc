#include "aggregator/job/rank_processes.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "aggregator/job/attempts.h"
#include "aggregator/job/view.h"
#include "common/wire/process_fact.h"

namespace l4::job {
namespace {

/// Node, and rank or local rank.
using Place = std::tuple<std::string_view, bool, std::int32_t>;

/// Chooses among the processes of one node and rank.
struct Best {
  const wire::ProcessFact* of_attempt = nullptr;
  const wire::ProcessFact* newest = nullptr;
};

void keep_newest(const wire::ProcessFact*& best, const wire::ProcessFact& fact) {
  // Within one boot the kernel's monotonic count is surer than a clock that may be set.
  const auto later = [](const wire::ProcessFact& a, const wire::ProcessFact& b) {
    return a.boot_id == b.boot_id ? a.started_boot > b.started_boot : a.started > b.started;
  };
  if (best == nullptr || later(fact, *best)) best = &fact;
}

}  // namespace

void add_processes(JobView& view, const Attempts& attempts) {
  std::map<Place, Best> places;
  for (const auto& [name, agent] : view.state->agents()) {
    for (const auto& [key, fact] : agent.processes) {
      if (fact.part != wire::Part::rank || (!fact.rank && !fact.local_rank)) continue;
      const std::string& node = fact.node.empty() ? name : fact.node;
      Best& best =
          places[{node, fact.rank.has_value(), fact.rank ? fact.rank->value() : *fact.local_rank}];
      keep_newest(best.newest, fact);
      if (attempts.of(node, fact) == view.attempt) keep_newest(best.of_attempt, fact);
    }
  }
  if (places.empty()) return;
  const bool newest_attempt = view.attempt == attempts.numbers().back();
  const bool by_number = std::ranges::any_of(
      places, [](const auto& place) { return place.second.of_attempt != nullptr; });
  for (RankView& rank : view.ranks) {
    if (rank.launcher) continue;
    const std::string_view node = view.nodes[rank.node].name;
    auto found = rank.rank ? places.find({node, true, rank.rank->value()}) : places.end();
    if (found == places.end() && rank.local_rank)
      found = places.find({node, false, *rank.local_rank});
    if (found == places.end()) continue;
    rank.process = found->second.of_attempt;
    if (by_number || !newest_attempt) continue;
    const wire::ProcessFact& newest = *found->second.newest;
    const bool before =
        newest.state == wire::ProcessState::gone && rank.begin && newest.since < *rank.begin;
    if (!before) rank.process = &newest;
  }
}

}  // namespace l4::job
