#include <algorithm>
#include <map>
#include <set>

#include "aggregator/flows/learn.h"

namespace l4::flows {
namespace {

/// Share of the rows of `one` that begin together with a row of `two`.
double together(const Track& one, const Track& two) {
  constexpr TimeNs kTogether = 3 * kMillisecond;  // exporters have clocks of their own
  constexpr std::size_t kRowsMax = 64;
  std::size_t found = 0;
  const std::size_t count = std::min(kRowsMax, one.rows.size());
  for (std::size_t i = 0; i < count; ++i) {
    const TimeNs start = one.rows[i].start;
    auto at = std::ranges::lower_bound(two.rows, one.rows[i].end - 10 * kTogether, {}, &Row::end);
    for (; at != two.rows.end() && at->start <= start + kTogether; ++at)
      if (at->start >= start - kTogether) {
        ++found;
        break;
      }
  }
  return count == 0 ? 0 : static_cast<double>(found) / static_cast<double>(count);
}

/// Cards of a server that send point to point at the same moments: one replica's tensor ranks.
/// Zero if servers differ, or nobody sends point to point.
unsigned tensor_ranks(const JobPlan& job, const StreamTable& table,
                      const std::map<std::uint32_t, const Track*>& by_stream) {
  constexpr double kAlike = 0.8;
  std::map<std::uint32_t, std::set<std::uint32_t>> by_server;
  for (const std::uint32_t card : job.cards) by_server[table.cards()[card].server].insert(card);
  std::vector<Edge> edges = job.pipes.empty() ? job.experts : job.pipes;
  for (const Group& group : job.groups)
    if (group.label == Label::context && job.pipes.empty())
      edges.insert(edges.end(), group.edges.begin(), group.edges.end());
  std::map<std::uint32_t, std::vector<const Track*>> leaving;
  for (const Edge& edge : edges) leaving[edge.src].push_back(by_stream.at(edge.stream));
  std::set<std::size_t> sizes;
  for (const auto& [server, cards] : by_server)
    for (const std::uint32_t card : cards) {
      const auto own = leaving.find(card);
      if (own == leaving.end()) continue;
      std::size_t alike = 0;
      for (const std::uint32_t other : cards) {
        const auto theirs = leaving.find(other);
        alike +=
            theirs != leaving.end() && std::ranges::any_of(theirs->second, [&](const Track* track) {
              return together(*own->second.front(), *track) > kAlike;
            });
      }
      sizes.insert(alike);
    }
  return sizes.size() == 1 ? static_cast<unsigned>(*sizes.begin()) : 0;
}

}  // namespace

std::optional<Strategy> strategy_of(const JobPlan& job, const StreamTable& table,
                                    const std::vector<Track>& tracks) {
  std::map<std::uint32_t, const Track*> by_stream;
  for (const Track& track : tracks) by_stream[track.stream] = &track;
  std::set<std::set<std::uint32_t>> stages;  // servers of each stage's gradient groups
  std::size_t context = 1;
  for (const Group& group : job.groups) {
    std::set<std::uint32_t> servers;
    for (const std::uint32_t card : group.cards) servers.insert(table.cards()[card].server);
    if (group.label == Label::context) context = std::max(context, group.cards.size());
    if (group.label == Label::data && group.rule && group.rule->events > 1) stages.insert(servers);
  }
  Strategy strategy;
  strategy.tensor = tensor_ranks(job, table, by_stream);
  strategy.pipeline = static_cast<unsigned>(stages.size());
  strategy.context = static_cast<unsigned>(context);
  const std::size_t others = std::size_t{strategy.tensor} * strategy.pipeline * strategy.context;
  if (others == 0 || job.cards.size() % others != 0) return std::nullopt;
  // Stages that share a server are not apart in its records.
  std::size_t in_stages = 0;
  for (const auto& stage : stages) in_stages += stage.size();
  std::set<std::uint32_t> servers;
  for (const std::uint32_t card : job.cards) servers.insert(table.cards()[card].server);
  if (in_stages != servers.size()) return std::nullopt;
  if (strategy.pipeline > 1 && job.pipes.empty()) return std::nullopt;
  strategy.data = static_cast<unsigned>(job.cards.size() / others);
  return strategy;
}

}  // namespace l4::flows
