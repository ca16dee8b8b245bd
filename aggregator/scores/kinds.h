// The kinds of matrices: each fills columns and rows for a view of the newest attempt, or tells the
// terms of one cell.
//
// Place in the flow: score_matrix(), cell_terms() -> one of these. Private to this room.
#pragma once

#include "aggregator/scores/matrix.h"
#include "aggregator/scores/terms.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::scores {

Result<void> score_nodes(const job::JobView& view, const job::JobClock& clock, const Query& query,
                         Matrix& matrix);
/// Ranks, or their phases.
Result<void> score_ranks(const job::JobView& view, const job::JobClock& clock, const Query& query,
                         Matrix& matrix);

/// Fill in column and terms of a cell of node number `node`; false: there is no such column.
Result<bool> explain_node(const job::JobView& view, const job::JobClock& clock,
                          const TermsQuery& query, std::size_t node, Terms& terms);
Result<bool> explain_ranks(const job::JobView& view, const job::JobClock& clock,
                           const TermsQuery& query, std::size_t node, Terms& terms);

/// A bound of the query as a number; `otherwise` if it is not given.
Result<std::int64_t> iteration_in(const std::string& text, const char* name,
                                  std::int64_t otherwise);

}  // namespace l4::scores
