#include "aggregator/scores/matrix.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "aggregator/job/attempts.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"
#include "aggregator/scores/kinds.h"

namespace l4::scores {

double step_of(What what) {
  return what == What::nodes ? 0.25 : 0.02;
}

Score score_of(double value, What what) {
  if (std::isnan(value)) return kUnknown;
  const double steps = std::round(std::max(value, 0.0) / step_of(what));
  return static_cast<Score>(std::min(steps, double{kLargest}));
}

Result<std::int64_t> iteration_in(const std::string& text, const char* name,
                                  std::int64_t otherwise) {
  if (text.empty()) return otherwise;
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc{} || at != end || number < 0)
    return std::unexpected(Error{name, "must be an iteration, which these columns are of"});
  return number;
}

Result<Matrix> score_matrix(const job::JobState& state, const Query& query) {
  const job::Attempts attempts(state);
  const job::JobView view = job::make_view(attempts, attempts.numbers().back(), false);
  const job::JobClock clock = job::make_clock(view);
  Matrix matrix;
  matrix.what = query.what;
  matrix.attempt = view.attempt;
  const auto scored = query.what == What::nodes ? score_nodes(view, clock, query, matrix)
                                                : score_ranks(view, clock, query, matrix);
  if (!scored) return std::unexpected(scored.error());
  return matrix;
}

namespace {

Result<std::optional<Terms>> terms_in(const job::JobView& view, const job::JobClock& clock,
                                      const TermsQuery& query) {
  const auto node = std::ranges::find(view.nodes, query.node, &job::NodeView::name);
  if (node == view.nodes.end()) return std::nullopt;
  const auto at = static_cast<std::size_t>(node - view.nodes.begin());
  Terms terms;
  terms.what = query.matrix.what;
  terms.attempt = view.attempt;
  terms.nodes = view.nodes.size();
  const auto told = terms.what == What::nodes ? explain_node(view, clock, query, at, terms)
                                              : explain_ranks(view, clock, query, at, terms);
  if (!told) return std::unexpected(told.error());
  return *told ? std::optional(std::move(terms)) : std::nullopt;
}

}  // namespace

Result<std::optional<Terms>> cell_terms(const job::JobState& state, const TermsQuery& query) {
  const job::Attempts attempts(state);
  const job::JobView view = job::make_view(attempts, attempts.numbers().back(), false);
  return terms_in(view, job::make_clock(view), query);
}

std::vector<std::optional<Terms>> terms_of_cells(const job::JobState& state,
                                                 const std::vector<TermsQuery>& queries) {
  const job::Attempts attempts(state);
  const job::JobView view = job::make_view(attempts, attempts.numbers().back(), false);
  const job::JobClock clock = job::make_clock(view);
  std::vector<std::optional<Terms>> found;
  found.reserve(queries.size());
  for (const TermsQuery& query : queries)
    found.push_back(terms_in(view, clock, query).value_or(std::nullopt));
  return found;
}

}  // namespace l4::scores
