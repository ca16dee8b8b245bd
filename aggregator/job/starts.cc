#include "aggregator/job/starts.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace l4::job {
namespace {

/// Processes of one start begin within this time; clocks of nodes differ, too.
constexpr Millis kTogether{30'000}, kClocks{2'000}, kSilent{10'000};

/// Numbers for the names of nodes, in the order of the names: texts are compared once.
class NodeNumbers {
 public:
  explicit NodeNumbers(const JobState& state) {
    for (const auto& [name, agent] : state.agents())
      for (const auto& [key, fact] : agent.processes)
        if (is_start(fact)) add(node_of(name, fact));
    std::ranges::sort(names_);
    const auto again = std::ranges::unique(names_);
    names_.erase(again.begin(), again.end());
    for (std::uint32_t i = 0; i < names_.size(); ++i) numbers_.emplace(names_[i], i);
  }

  static bool is_start(const wire::ProcessFact& fact) {
    return fact.part == wire::Part::rank && fact.rank;
  }
  static std::string_view node_of(std::string_view agent, const wire::ProcessFact& fact) {
    return fact.node.empty() ? agent : std::string_view(fact.node);
  }

  std::optional<std::uint32_t> of(std::string_view node) const {
    const auto at = numbers_.find(node);
    return at == numbers_.end() ? std::nullopt : std::optional(at->second);
  }
  std::string_view name(std::uint32_t number) const { return names_[number]; }

 private:
  void add(std::string_view node) {
    if (names_.empty() || names_.back() != node) names_.push_back(node);
  }

  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

struct Start {
  std::uint32_t node = 0;
  Rank rank;
  std::int32_t attempt = 0;   ///< number that its node counts
  std::int32_t together = 0;  ///< number counted over all nodes
  TimeMs began;
  std::optional<TimeMs> left, heard;
};

/// A rank that starts on another node after its process ended is in the next attempt.
void follow_ranks(std::vector<Start>& starts) {
  std::ranges::sort(starts, {}, [](const Start& start) {
    return std::tuple(start.rank, start.began, start.attempt);
  });
  for (std::size_t i = 1; i < starts.size(); ++i) {
    const Start& former = starts[i - 1];
    Start& start = starts[i];
    if (former.rank != start.rank) continue;
    const bool over = former.left && *former.left <= start.began + kClocks;
    const bool silent = former.node != start.node && !former.left && former.heard &&
                        *former.heard + kSilent <= start.began;
    if (over || silent) start.together = std::max(start.together, former.together + 1);
  }
}

/// A rank that starts together with ranks of attempt N belongs to N even if its own node has not
/// counted N yet.
void join_others(std::vector<Start>& starts) {
  std::map<std::int32_t, TimeMs> begins;
  std::set<std::pair<std::uint32_t, std::int32_t>> known;
  for (const Start& start : starts) {
    const auto [at, created] = begins.try_emplace(start.together, start.began);
    if (!created) at->second = std::min(at->second, start.began);
    known.emplace(start.node, start.together);
  }
  for (Start& start : starts)
    for (const auto& [number, begin] : begins) {
      if (number <= start.together || known.contains({start.node, number})) continue;
      const bool over = start.left && *start.left < begin;
      if (!over && start.began + kTogether >= begin) start.together = number;
    }
}

}  // namespace

Starts::Starts(const JobState& state) {
  const NodeNumbers nodes(state);
  std::map<std::tuple<std::uint32_t, Rank, std::int32_t>, Start> found;
  for (const auto& [name, agent] : state.agents())
    for (const auto& [key, fact] : agent.processes) {
      if (!NodeNumbers::is_start(fact)) continue;
      const std::uint32_t node = *nodes.of(NodeNumbers::node_of(name, fact));
      const bool gone = fact.state == wire::ProcessState::gone;
      const auto left = gone ? std::optional(fact.since) : std::nullopt;
      const auto [at, created] = found.try_emplace(
          {node, *fact.rank, fact.attempt},
          Start{node, *fact.rank, fact.attempt, fact.attempt, fact.started, left, {}});
      if (created) continue;
      Start& start = at->second;
      start.began = std::min(start.began, fact.started);
      start.left = start.left && left ? std::optional(std::max(*start.left, *left)) : std::nullopt;
    }
  if (found.empty()) return;
  for (const auto& [name, agent] : state.agents())
    for (const auto& [id, stream] : agent.streams) {
      const wire::SourceDefinition& source = stream.source;
      if (!source.rank || source.kind != wire::SourceKind::rank || !stream.arrival) continue;
      const auto node = nodes.of(source.node);
      if (!node) continue;
      const auto at = found.find({*node, *source.rank, source.attempt});
      if (at != found.end())
        at->second.heard = std::max(at->second.heard.value_or(*stream.arrival), *stream.arrival);
    }
  std::vector<Start> starts;
  starts.reserve(found.size());
  for (const auto& [key, start] : found) starts.push_back(start);
  follow_ranks(starts);
  join_others(starts);
  for (const Start& start : starts)
    if (start.together != start.attempt)
      moved_[{std::string(nodes.name(start.node)), start.rank, start.attempt}] = start.together;
}

std::int32_t Starts::of(const std::string& node, std::optional<Rank> rank,
                        std::int32_t attempt) const {
  if (!rank || moved_.empty()) return attempt;
  const auto moved = moved_.find({node, *rank, attempt});
  return moved == moved_.end() ? attempt : moved->second;
}

}  // namespace l4::job
