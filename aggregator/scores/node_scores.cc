// Scores of nodes: by windows of time, or of iterations in logs without times.
#include <algorithm>
#include <optional>

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

/// The windows that a query asks for.
struct Asked {
  std::optional<Period> period;  ///< none: nothing can be compared yet
  bool by_time = true;
  Columns columns;

  std::int64_t unit() const { return by_time ? kWindowMs : 1; }
};

Result<Asked> asked_of(const job::JobView& view, const job::JobClock& clock, const Query& query) {
  Asked asked;
  asked.period = detect::spatial::period_of(view, clock);
  const auto& period = asked.period;
  asked.by_time = !period || period->timed;
  const auto from =
      window_in(query.from, "from", asked.by_time, period ? period->first : std::int64_t{0});
  const auto to = window_in(query.to, "to", asked.by_time, period ? period->end - 1 : 0);
  if (!from) return std::unexpected(from.error());
  if (!to) return std::unexpected(to.error());
  if (period)
    asked.columns = columns_over(std::max(*from, period->first), std::min(*to + 1, period->end),
                                 width_within(view, query.width));
  return asked;
}

}  // namespace

Result<void> score_nodes(const job::JobView& view, const job::JobClock& clock, const Query& query,
                         Matrix& matrix) {
  const auto asked = asked_of(view, clock, query);
  if (!asked) return std::unexpected(asked.error());
  matrix.by_time = asked->by_time;
  const Columns& columns = asked->columns;
  if (columns.count() == 0) return {};
  for (std::size_t column = 0; column < columns.count(); ++column)
    matrix.begins.push_back(columns.begin_of(column) * asked->unit());
  matrix.end = columns.end * asked->unit();
  const detect::spatial::NodeCounts counts(view, *asked->period);
  const auto bounds = bounds_of(*asked->period, columns);
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

Result<bool> explain_node(const job::JobView& view, const job::JobClock& clock,
                          const TermsQuery& query, std::size_t node, Terms& terms) {
  const auto asked = asked_of(view, clock, query.matrix);
  if (!asked) return std::unexpected(asked.error());
  const auto place = window_in(query.at, "at", asked->by_time, -1);
  if (!place) return std::unexpected(place.error());
  const Columns& columns = asked->columns;
  if (columns.count() == 0 || !columns.has(*place)) return false;
  const std::size_t column = columns.at(*place);
  terms.by_time = asked->by_time;
  terms.begin = columns.begin_of(column) * asked->unit();
  terms.end = std::min(columns.begin_of(column + 1), columns.end) * asked->unit();
  const detect::spatial::NodeCounts counts(view, *asked->period);
  const auto bounds = bounds_of(*asked->period, columns);
  const std::size_t hidden = bounds.size() - 1 - columns.count();
  for (const auto& term : detect::spatial::score_terms(
           view, counts, bounds, static_cast<std::uint32_t>(node), hidden + column)) {
    terms.score += term.nats;
    if (terms.lines.size() == kLineTermsMax) {
      ++terms.left_out;
      terms.left_out_score += term.nats;
      continue;
    }
    const job::EventView& event = view.events[term.event];
    terms.lines.push_back({event.id, event.text, event.level, term});
  }
  return true;
}

}  // namespace l4::scores
