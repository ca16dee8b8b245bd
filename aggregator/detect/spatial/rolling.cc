#include "aggregator/detect/spatial/rolling.h"

#include <algorithm>
#include <map>
#include <utility>

#include "aggregator/detect/spatial/node_counts.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/spatial.h"

namespace l4::detect::spatial {
namespace {

using Eigen::Index;

using Nodes = std::vector<std::uint32_t>;  // ascending

/// Nodes that print an event, or the others where most print it.
Nodes group_of(const job::JobView& view, const job::EventView& event) {
  std::vector<bool> prints(view.nodes.size(), false);
  for (const job::Occurrence& at : event.at) prints[view.streams[at.stream].node] = true;
  const auto printing = static_cast<std::size_t>(std::ranges::count(prints, true));
  const bool wanted = 2 * printing <= prints.size();
  Nodes nodes;
  for (std::uint32_t node = 0; node < prints.size(); ++node)
    if (prints[node] == wanted) nodes.push_back(node);
  return nodes;
}

/// Groups of nodes with a role: several events were theirs alone from the beginning.
class Roles {
 public:
  Roles(const job::JobView& view, const std::vector<std::int64_t>& first_windows,
        std::int64_t late) {
    for (std::size_t event = 0; event < view.events.size(); ++event) {
      if (first_windows[event] >= late) continue;
      Nodes group = group_of(view, view.events[event]);
      if (!group.empty()) ++events_[std::move(group)];
    }
  }

  /// A later event of `group` belongs to its role, or to that of a group around it.
  bool has(const Nodes& group) const {
    if (const auto same = events_.find(group);
        same != events_.end() && same->second >= numbers::spatial().role_events)
      return true;
    return std::ranges::any_of(events_, [&](const auto& role) {
      const auto& [nodes, events] = role;
      return events > numbers::spatial().role_events && nodes.size() <= 2 * group.size() &&
             std::ranges::includes(nodes, group);
    });
  }

 private:
  std::map<Nodes, std::size_t> events_;
};

void clear(SpatialInput& input, Index event) {
  input.counts.col(event).setZero();
  if (input.history_windows > 0) input.history.col(event).setZero();
  if (input.history_max.size() > 0) input.history_max[event] = 0;
  if (!input.fresh.empty()) input.fresh[static_cast<std::size_t>(event)] = 1;
}

/// New events of each group of nodes.
using Groups = std::map<Nodes, std::vector<Index>>;

/// Where many nodes have such events of their own, they are usual.
void clear_usual(const job::JobView& view, const Groups& groups, SpatialInput& input) {
  if (groups.size() <=
      std::max<std::size_t>(2, view.nodes.size() / numbers::spatial().rolling_share))
    return;
  for (const auto& [nodes, events] : groups)
    for (const Index event : events) clear(input, event);
}

/// Leaves new events that tell nodes apart: those of a role, and those that come while the period
/// ends and may still come elsewhere, do not. What recurs on a node is not usual because many print
/// something once.
void keep_telling(const job::JobView& view, NodeCounts& counts, const Period& period,
                  std::int64_t late, SpatialInput& input) {
  const Roles roles(view, counts.first_windows(), late);
  Groups once, recurring;
  for (Index event = 0; event < input.events(); ++event) {
    const double most = input.counts.col(event).maxCoeff();
    if (most <= 0) continue;
    const std::uint32_t i = counts.columns()[static_cast<std::size_t>(event)];
    Nodes group = group_of(view, view.events[i]);
    if (group.empty() || roles.has(group) ||
        counts.first_windows()[i] + numbers::spatial().rolling_edge >= period.end)
      clear(input, event);
    else
      (most < numbers::spatial().late_recurs ? once : recurring)[std::move(group)].push_back(event);
  }
  clear_usual(view, once, input);
  clear_usual(view, recurring, input);
}

/// One comparison, with what it compared.
struct Compared {
  SpatialInput input;
  SpatialResult result;
  std::int64_t width = 0;  ///< of the window; 0 for new events
};

class Collector {
 public:
  /// `columns`: the event of each column.
  Collector(const job::JobView& view, const Period& period,
            const std::vector<std::uint32_t>& columns)
      : view_(view), period_(period), columns_(columns), best_(view.nodes.size()) {}

  void add(const Compared& compared) {
    const auto all = static_cast<double>(view_.nodes.size());
    std::map<std::ptrdiff_t, std::uint32_t> nodes;
    for (const NodeScore& node : compared.result.nodes)
      for (const Contribution& part : node.contributions) ++nodes[part.event];
    for (const NodeScore& node : compared.result.nodes) {
      NodeDifference found{static_cast<std::uint32_t>(node.node), node.score, 0, false, {}, {}};
      for (const Contribution& part : node.contributions) {
        const double share = nodes[part.event] / all;
        if (part.event < 0 || share > numbers::spatial().rolling_share_max || !is_plain(part))
          continue;
        found.events.push_back({columns_[static_cast<std::size_t>(part.event)], part.kind,
                                part.count, part.expected, part.term, nodes[part.event]});
        found.explanation += part.term;
      }
      if (found.events.empty()) continue;
      found.alarm = node.alarm;
      found.since = since(compared, found);
      NodeDifference& best = best_[found.node];
      if (best.events.empty() || best.explanation < found.explanation) best = std::move(found);
    }
  }

  Differences finish() {
    Differences differences;
    differences.compared = view_.nodes.size();
    for (NodeDifference& node : best_)
      if (!node.events.empty()) differences.nodes.push_back(std::move(node));
    std::ranges::stable_sort(differences.nodes, [](const auto& a, const auto& b) {
      return a.score != b.score ? a.score > b.score : a.explanation > b.explanation;
    });
    return differences;
  }

 private:
  /// Counts are compared at several widths, so one that is barely beyond the limit may be chance.
  static bool is_plain(const Contribution& part) {
    const bool count = part.kind == EvidenceKind::count || part.kind == EvidenceKind::excess;
    return !count || std::abs(part.z) >= numbers::spatial().rolling_beyond;
  }

  std::optional<TimeMs> since(const Compared& compared, const NodeDifference& found) const {
    if (compared.width > 0) {
      if (!period_.timed) return std::nullopt;
      return TimeMs{(period_.end - compared.width) * vectors::kWindow};
    }
    std::optional<TimeMs> first;
    for (const job::Occurrence& at : view_.events[found.events.front().event].at)
      if (view_.streams[at.stream].node == found.node && at.time && (!first || *at.time < *first))
        first = at.time;
    return first;
  }

  const job::JobView& view_;
  const Period& period_;
  const std::vector<std::uint32_t>& columns_;
  std::vector<NodeDifference> best_;
};

/// 1, 4, 16, ..., and the newer half of the period.
std::vector<std::int64_t> widths_of(const Period& period) {
  const std::int64_t half = period.length() / 2;
  std::vector<std::int64_t> widths;
  for (std::int64_t width = 1; width < half; width *= numbers::spatial().rolling_widen)
    widths.push_back(width);
  widths.push_back(half);
  return widths;
}

}  // namespace

Differences compare_by_windows(const job::JobView& view, const job::JobClock& clock,
                               const RollingOptions& options) {
  const auto period = period_of(view, clock);
  if (view.nodes.size() < numbers::spatial().rolling_nodes_min || !period ||
      period->length() < numbers::spatial().rolling_length_least)
    return {};
  NodeCounts counts(view, *period);
  Collector collector(view, *period, counts.columns());
  if (counts.columns().empty()) return collector.finish();
  std::vector<std::uint8_t> in_pool;
  if (!options.in_pool.empty())
    for (const std::uint32_t event : counts.columns()) in_pool.push_back(options.in_pool[event]);
  SpatialOptions spatial;
  spatial.seed = options.seed;
  spatial.evidence.dispersion_min = numbers::spatial().rolling_dispersion_min;
  const auto compare = [&](SpatialInput input, std::int64_t width) {
    input.in_pool = in_pool;
    Compared compared{std::move(input), {}, width};
    compared.result = compare_nodes(compared.input, spatial);
    collector.add(compared);
  };
  Eigen::VectorXd dispersion;
  for (const std::int64_t width : widths_of(*period)) {
    SpatialInput input = counts.input(width);
    if (input.dispersion_known.size() > 0) dispersion = input.dispersion_known;
    input.dispersion_known = dispersion;
    for (Index event = 0; event < input.events(); ++event)
      if (input.history_max[event] <= 0) clear(input, event);  // late() takes new events
    compare(std::move(input), width);
  }
  const std::int64_t late =
      period->first +
      std::max(numbers::spatial().late_least, period->length() / numbers::spatial().late_part);
  SpatialInput fresh = counts.late(late);
  keep_telling(view, counts, *period, late, fresh);
  compare(std::move(fresh), 0);
  return collector.finish();
}

}  // namespace l4::detect::spatial
