#include "aggregator/job/doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "aggregator/job/attempts.h"

namespace l4::job {
namespace {

constexpr std::size_t kToldMax = 20;
constexpr Millis kDriftMax = std::chrono::minutes(10);

/// Ranks by attempt and number, each with one file on every node that has it.
using Claims = std::map<std::pair<std::int32_t, std::int32_t>, std::map<std::string, std::string>>;

void tell_claims(const JobState& state, const Attempts& attempts,
                 std::vector<wire::Warning>& warnings) {
  Claims claims;
  for (const auto& [name, agent] : state.agents())
    for (const auto& [id, stream] : agent.streams) {
      const wire::SourceDefinition& source = stream.source;
      if (source.rank && source.rank_source == RankSource::env)
        claims[{attempts.of(agent, stream).value_or(0), source.rank->value()}].try_emplace(
            source.node, source.path);
    }
  std::size_t told = 0;
  for (const auto& [rank, nodes] : claims) {
    if (nodes.size() < 2 || told++ >= kToldMax) continue;
    warnings.push_back({"rank", nodes.begin()->second,
                        fmt::format("rank {} is claimed by {} nodes, also by {}", rank.second,
                                    nodes.size(), std::next(nodes.begin())->second),
                        0});
  }
}

struct Reached {
  const wire::SourceDefinition* source;
  Iteration last;
  const Iterations* iterations;
};

std::optional<TimeMs> completed_at(const Iterations& iterations, Iteration wanted) {
  const auto at = std::ranges::lower_bound(iterations, wanted, {},
                                           [](const auto& entry) { return entry.first; });
  if (at == iterations.end() || at->first != wanted || !at->second.completed) return std::nullopt;
  return at->second.end;
}

/// For each node and attempt, the first stream that counts iterations.
std::map<std::int32_t, std::map<std::string, Reached>> reached_by_attempt(
    const JobState& state, const Attempts& attempt_of) {
  std::map<std::int32_t, std::map<std::string, Reached>> attempts;
  for (const auto& [name, agent] : state.agents())
    for (const auto& [id, stream] : agent.streams)
      if (stream.last_completed && !stream.counted)
        attempts[attempt_of.of(agent, stream).value_or(0)].try_emplace(
            stream.source.node,
            Reached{&stream.source, *stream.last_completed, &stream.iterations});
  return attempts;
}

void tell_clocks(const JobState& state, const Attempts& attempts,
                 std::vector<wire::Warning>& warnings) {
  constexpr std::size_t kNodesMin = 3;  // with two nodes either may be wrong
  std::size_t told = 0;
  for (const auto& [attempt, nodes] : reached_by_attempt(state, attempts)) {
    if (nodes.size() < kNodesMin) continue;
    const Iteration common = std::ranges::min_element(nodes, {}, [](const auto& node) {
                               return node.second.last;
                             })->second.last;
    std::vector<std::pair<TimeMs, const wire::SourceDefinition*>> times;
    for (const auto& [name, reached] : nodes)
      if (const auto time = completed_at(*reached.iterations, common))
        times.emplace_back(*time, reached.source);
    if (times.size() < kNodesMin) continue;
    auto sorted = times;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle, {}, &decltype(times)::value_type::first);
    for (const auto& [time, source] : times) {
      const Millis off = time - middle->first;
      if (std::chrono::abs(off) <= kDriftMax || told++ >= kToldMax) continue;
      warnings.push_back({"clock", source->path,
                          fmt::format("the clock of {} seems to be {} {} most: it "
                                      "completed iteration {} then",
                                      source->node, to_human(std::chrono::abs(off)),
                                      off < Millis{0} ? "behind" : "ahead of", common.value()),
                          0});
    }
  }
}

}  // namespace

std::vector<wire::Warning> doubts(const JobState& state) {
  std::vector<wire::Warning> warnings;
  const Attempts attempts(state);
  tell_claims(state, attempts, warnings);
  tell_clocks(state, attempts, warnings);
  return warnings;
}

}  // namespace l4::job
