// Scores of nodes: by windows of time, or of iterations in logs without times.
#include <algorithm>

#include "aggregator/detect/spatial/window_scores.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"
#include "aggregator/scores/kinds.h"
#include "aggregator/scores/rows.h"

namespace l4::scores {
namespace {

using detect::spatial::Period;

constexpr std::int64_t kWindowMs = vectors::kWindow.count();

/// A bound of the query as the number of a window; `otherwise` if it is not given.
Result<std::int64_t> window_in(const std::string& text, const char* name, bool timed,
                               std::int64_t otherwise) {
  if (!timed) return iteration_in(text, name, otherwise);
  if (text.empty()) return otherwise;
  const auto time = parse_time(text);
  if (!time) return std::unexpected(Error{name, "must be a time, as 2026-11-20T15:54:42Z"});
  return vectors::window_at(*time);
}

std::size_t width_within(const job::JobView& view, std::size_t width) {
  const std::size_t most =
      kCellsMax / std::max<std::size_t>(detect::spatial::scored_cells(view), 1);
  return std::min(width, std::max(most, kColumnsLeast));
}

/// What was before the first column stands in a column of its own, which is not shown.
std::vector<std::int64_t> bounds_of(const Period& period, const Columns& columns) {
  std::vector<std::int64_t> bounds;
  if (period.first < columns.first) bounds.push_back(period.first);
  for (std::size_t column = 0; column < columns.count(); ++column)
    bounds.push_back(columns.begin_of(column));
  bounds.push_back(columns.end);
  return bounds;
}

}  // namespace

Result<void> score_nodes(const job::JobView& view, const job::JobClock& clock, const Query& query,
                         Matrix& matrix) {
  const auto period = detect::spatial::period_of(view, clock);
  matrix.by_time = !period || period->timed;
  const auto from =
      window_in(query.from, "from", matrix.by_time, period ? period->first : std::int64_t{0});
  const auto to = window_in(query.to, "to", matrix.by_time, period ? period->end - 1 : 0);
  if (!from) return std::unexpected(from.error());
  if (!to) return std::unexpected(to.error());
  if (!period) return {};
  const Columns columns =
      columns_over(std::max(*from, period->first), std::min(*to + 1, period->end),
                   width_within(view, query.width));
  if (columns.count() == 0) return {};
  const std::int64_t unit = matrix.by_time ? kWindowMs : 1;
  for (std::size_t column = 0; column < columns.count(); ++column)
    matrix.begins.push_back(columns.begin_of(column) * unit);
  matrix.end = columns.end * unit;
  const detect::spatial::NodeCounts counts(view, *period);
  const auto bounds = bounds_of(*period, columns);
  const auto scores = detect::spatial::score_windows(view, counts, bounds);
  const auto hidden = static_cast<Eigen::Index>(bounds.size() - 1 - columns.count());
  WorstRows rows(query.rows);
  std::vector<Score> cells(columns.count());
  for (std::size_t node = 0; node < view.nodes.size(); ++node) {
    for (std::size_t column = 0; column < cells.size(); ++column)
      cells[column] =
          score_of(static_cast<double>(scores(static_cast<Eigen::Index>(node),
                                              hidden + static_cast<Eigen::Index>(column))),
                   What::nodes);
    rows.offer(cells, [&](Row& row) { row.node = view.nodes[node].name; });
  }
  rows.finish(matrix);
  return {};
}

}  // namespace l4::scores
