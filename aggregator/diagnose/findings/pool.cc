#include "aggregator/diagnose/findings/pool.h"

#include <algorithm>

#include "aggregator/detect/slow/slowdown.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"

namespace l4::diagnose {

std::vector<std::uint64_t> counts_by_node(const job::JobView& view, const job::EventView& event) {
  std::vector<std::uint64_t> counts(view.nodes.size(), 0);
  for (const job::Occurrence& occurrence : event.at)
    counts[view.streams[occurrence.stream].node] += occurrence.stats.count;
  return counts;
}

std::vector<std::uint64_t> lines_by_node(const job::JobView& view) {
  std::vector<std::uint64_t> lines(view.nodes.size(), 0);
  for (const job::StreamView& stream : view.streams) lines[stream.node] += stream.state->lines;
  return lines;
}

double slowed_by(const job::JobView& healthy) {
  const auto slowdown = detect::slow::find_slowdown(healthy, job::make_clock(healthy));
  return slowdown.found ? slowdown.ratio : 1;
}

void add_run(Pool& pool, const job::JobView& healthy) {
  ++pool.runs;
  pool.slowed = std::max(pool.slowed, slowed_by(healthy));
  const bool said = std::ranges::any_of(healthy.events, [](const job::EventView& event) {
    return (event.marks & wire::kMarkFinished) != 0;
  });
  pool.wordless += said ? 0 : 1;
  const auto lines = lines_by_node(healthy);
  for (const job::EventView& event : healthy.events) {
    PoolEvent& known = pool.events[event.id];
    ++known.runs;
    const auto counts = counts_by_node(healthy, event);
    for (std::size_t node = 0; node < counts.size(); ++node) {
      if (counts[node] == 0) continue;
      known.node_count_max = std::max(known.node_count_max, counts[node]);
      known.node_rate_max = std::max(known.node_rate_max, static_cast<double>(counts[node]) /
                                                              static_cast<double>(lines[node]));
    }
  }
}

}  // namespace l4::diagnose
