#include "aggregator/scoring/node_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aggregator/detect/spatial/rolling.h"
#include "aggregator/job/attempts.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"
#include "aggregator/serve/utf8.h"
#include "aggregator/vectors/node_vectors.h"

namespace l4::scoring {
namespace {

using detect::spatial::NodeDifference;

std::vector<std::uint8_t> known_events(const job::JobView& view, const diagnose::Pool& normal) {
  std::vector<std::uint8_t> known;
  if (normal.runs == 0) return known;
  for (const job::EventView& event : view.events)
    known.push_back(normal.find(event.id) != nullptr ? 1 : 0);
  return known;
}

std::string detail_of(const job::JobView& view, const NodeDifference& node) {
  constexpr std::size_t kTextMax = 120;
  const auto& event = node.events.front();
  return fmt::format("differs from its peers: {} of \"{}\", {:.1f} expected", event.count,
                     serve::cut(view.events[event.event].text, kTextMax), event.expected);
}

}  // namespace

std::vector<NodeAlarm> NodeCheck::run(const job::JobState& state, const diagnose::Pool& normal) {
  const job::Attempts attempts(state);
  const job::JobView view = job::make_view(attempts, attempts.numbers().back(), false);
  detect::spatial::RollingOptions options;
  options.in_pool = known_events(view, normal);
  const auto found = detect::spatial::compare_by_windows(view, job::make_clock(view), options);
  std::vector<NodeAlarm> alarms;
  std::set<std::string> alarming;
  for (const NodeDifference& node : found.nodes) {
    const std::string& name = view.nodes[node.node].name;
    if (!node.alarm || !alarming.insert(name).second || alarming_.contains(name)) continue;
    alarms.push_back({name, detail_of(view, node)});
  }
  alarming_ = std::move(alarming);
  return alarms;
}

void NodeCheck::rest(TimeMs now, Millis cost) {
  next_ = now + std::max(vectors::kWindow, cost * kRestFactor);
}

}  // namespace l4::scoring
