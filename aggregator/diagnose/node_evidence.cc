#include "aggregator/diagnose/node_evidence.h"

#include <cmath>
#include <limits>

#include "aggregator/detect/spatial/evidence.h"
#include "aggregator/diagnose/findings/hints.h"
#include "aggregator/job/view.h"

namespace l4::diagnose {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double ms_of(std::optional<TimeMs> time) {
  return time ? static_cast<double>(time->time_since_epoch().count()) : kUnknown;
}

}  // namespace

detect::spatial::SpatialResult compare_nodes_by_failure(const job::JobView& view,
                                                        const Hints& hints,
                                                        const detect::FailureEvents& failures,
                                                        std::uint64_t seed) {
  const auto nodes = static_cast<Eigen::Index>(view.nodes.size());
  const auto events = static_cast<Eigen::Index>(failures.events.size());
  detect::spatial::SpatialInput input;
  input.counts = Eigen::MatrixXd::Zero(nodes, events);
  input.first_ms = Eigen::MatrixXd::Constant(nodes, events, kUnknown);
  for (Eigen::Index column = 0; column < events; ++column) {
    const auto& failure = failures.events[static_cast<std::size_t>(column)];
    const job::EventView& event = view.events[failure.event];
    for (const std::uint32_t i : failure.occurrences) {
      const job::Occurrence& occurrence = event.at[i];
      const auto node = static_cast<Eigen::Index>(view.streams[occurrence.stream].node);
      input.counts(node, column) += static_cast<double>(occurrence.stats.count);
      double& first = input.first_ms(node, column);
      const double seen = ms_of(occurrence.time);
      if (std::isnan(first) || seen < first) first = seen;
    }
    input.fresh.push_back(1);
    input.in_pool.push_back(hints.events[failure.event].in_pool ? 1 : 0);
  }
  for (const job::NodeView& node : view.nodes) input.last_line_ms.push_back(ms_of(node.end));
  detect::spatial::SpatialOptions options;
  options.seed = seed;
  return detect::spatial::compare_nodes(input, options);
}

}  // namespace l4::diagnose
