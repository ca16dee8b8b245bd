#include "aggregator/job/rank_coverage.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "common/base/grouped.h"

namespace l4::job {
namespace {

using wire::ProcessFact;

template <class Visit>
void each_rank(const JobState& state, Visit visit) {
  for (const auto& [name, agent] : state.agents())
    for (const auto& [key, fact] : agent.processes)
      if (fact.part == wire::Part::rank) visit(agent, fact);
}

/// The newest attempt of each agent and of the job, and when the first rank of the job's newest
/// began.
struct Newest {
  std::map<const AgentSlice*, std::int32_t> here;
  std::int32_t attempt = -1;
  TimeMs began{};
};

Newest newest_of(const JobState& state) {
  Newest newest;
  each_rank(state, [&](const AgentSlice& agent, const ProcessFact& fact) {
    std::int32_t& here = newest.here.try_emplace(&agent, fact.attempt).first->second;
    here = std::max(here, fact.attempt);
    if (fact.attempt > newest.attempt) {
      newest.attempt = fact.attempt;
      newest.began = fact.started;
    } else if (fact.attempt == newest.attempt) {
      newest.began = std::min(newest.began, fact.started);
    }
  });
  return newest;
}

/// Ranks left from an earlier, larger world do not belong to the present world.
void add_logs(const JobState& state, RankCoverage& coverage) {
  std::optional<std::int32_t> newest;  // attempt of the path
  std::vector<Rank> named;             // by its logs
  for (const auto& [name, agent] : state.agents())
    for (const auto& [id, stream] : agent.streams) {
      const wire::SourceDefinition& source = stream.source;
      if (!source.rank || (newest && source.attempt < *newest)) continue;
      if (newest != source.attempt) named.clear();
      newest = source.attempt;
      if (!coverage.expected || source.rank->value() < *coverage.expected)
        named.push_back(*source.rank);
    }
  std::ranges::sort(named);
  coverage.ranks.insert(named.begin(), named.end());
}

}  // namespace

RankCoverage rank_coverage(const JobState& state) {
  RankCoverage coverage;
  const Newest newest = newest_of(state);
  each_rank(state, [&](const AgentSlice& agent, const ProcessFact& fact) {
    if (fact.attempt != newest.here.at(&agent)) return;
    const bool before = fact.attempt != newest.attempt && fact.state == wire::ProcessState::gone &&
                        fact.since <= newest.began;
    if (before) return;
    if (fact.rank) coverage.ranks.insert(*fact.rank);
    if (fact.world_size.value_or(0) > coverage.expected.value_or(0))
      coverage.expected = fact.world_size;
  });
  add_logs(state, coverage);
  return coverage;
}

std::string text(const RankCoverage& coverage) {
  std::string out = grouped(coverage.mapped());
  if (coverage.expected) out += " of " + grouped(static_cast<std::size_t>(*coverage.expected));
  const bool one = !coverage.expected && coverage.mapped() == 1;
  return out + (one ? " rank mapped" : " ranks mapped");
}

}  // namespace l4::job
