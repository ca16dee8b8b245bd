// Counts of all nodes of a view in windows of one width, as the spatial comparison takes them.
//
// Place in the flow: rolling.cc asks for one SpatialInput a width. Windows are counted back from
// the end of the period; those that were joined already and are wider than asked for count evenly
// over their length. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "aggregator/detect/spatial/evidence.h"
#include "aggregator/vectors/node_vectors.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::spatial {

/// The part of a job's life in which nodes are compared: base windows [first, end).
struct Period {
  std::int64_t first = 0, end = 0;
  bool timed = true;  ///< windows of vectors::kWindow; else of one iteration

  std::int64_t length() const { return end - first; }
};

/// From the first progress to the last; of a job without progress, all but its first windows.
/// Empty where no window is known.
std::optional<Period> period_of(const job::JobView& view, const job::JobClock& clock);

/// Counts of one node in columns of a job's life: cell (slot, column) is of event `events[slot]`.
struct NodeColumns {
  std::vector<std::uint32_t> events;  ///< indices into JobView::events
  Eigen::MatrixXf counts;
  std::int64_t begin = 0;  ///< first window of the node; INT64_MAX if it has none
};

/// The vectors of every node of the view, with the agent that numbers their events.
class NodeCounts {
 public:
  NodeCounts(const job::JobView& view, const Period& period);

  /// Events with a count in the period, ascending: the columns of what input() and late() give.
  /// Nearly all events come while programs start, or end.
  const std::vector<std::uint32_t>& columns();
  /// The last `width` base windows of the period against those before. A node that began late has
  /// its history as if it had printed alike from the begin. `dispersion_known` is the median over
  /// the nodes, so that one whose counts changed within its history does not hide itself; empty
  /// where the windows are too few to tell. There must be a column.
  SpatialInput input(std::int64_t width);
  /// Events whose first window lies at or behind `from` on every node, with their counts since.
  SpatialInput late(std::int64_t from);
  /// Fills `to`. Column c takes the base windows [bounds[c], bounds[c + 1]), bounds ascending; a
  /// window that was joined counts evenly over its length.
  void columns_of(std::uint32_t node, std::span<const std::int64_t> bounds, NodeColumns& to) const;
  /// By event: the first window of any node; INT64_MIN if it came before all windows.
  const std::vector<std::int64_t>& first_windows() const { return first_; }

 private:
  struct Row {
    const vectors::CountWindows* windows;
    const std::vector<std::uint32_t>* numbers;  ///< JobView::numbers of its agent
    std::uint32_t node;
  };
  void find_first_windows();
  template <class Add>
  void visit(Add add) const;

  const job::JobView& view_;
  Period period_;
  std::vector<Row> rows_;  // by node
  std::vector<std::int64_t> first_;
  std::vector<std::uint32_t> columns_;
  std::vector<std::int32_t> column_of_;  // by event, -1 for none; empty until it is asked
};

}  // namespace l4::detect::spatial
