// What one cell of a matrix is made of: the terms of a score, with their counts or durations, and
// what the peers have beside them.
//
// Place in the flow: GET /api/v1/jobs/{id}/scores/terms -> cell_terms() on the thread of the job's
// shard -> rows/term_rows.h. Asked only when a cell is opened, so a matrix holds nothing of it. The
// query of the matrix gives the same columns again; a request costs as much as its matrix. Bounds:
// the kLineTermsMax largest terms, the kLapTermsMax slowest ranks. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/detect/spatial/window_scores.h"
#include "aggregator/scores/matrix.h"
#include "common/base/vocabulary.h"

namespace l4::scores {

inline constexpr std::size_t kLineTermsMax = 32, kLapTermsMax = 64;

struct TermsQuery {
  Query matrix;       ///< `rows` means nothing here
  std::string node;   ///< whose row
  std::string phase;  ///< of a matrix of phases: which; empty: all
  std::string at;     ///< a time, or an iteration, in the column
};

/// Of a matrix of nodes: what one event adds.
struct LineTerm {
  TemplateId id;
  std::string text;
  Level level = Level::unknown;
  detect::spatial::ScoreTerm of;
};

/// Of a matrix of ranks or phases: the iteration of the column that stands out most in one rank.
struct LapTerm {
  std::optional<Rank> rank;
  std::string phase;
  std::int64_t iteration = 0;
  double ms = 0, usual_ms = 0;
  double exact_ms = 0;  ///< what the lines can tell apart; it is added to both
  double score = 0;     ///< ln of their ratio; 0: as usual, or faster
  /// The same iteration of the middle one of the ranks of other nodes, and how many they are.
  std::optional<double> peers_ms;
  std::size_t peers = 0;
};

struct Terms {
  What what = What::nodes;
  std::int32_t attempt = 0;
  bool by_time = false;
  std::int64_t begin = 0, end = 0;  ///< of the column: ms since 1970, or iterations
  std::size_t nodes = 0;            ///< of the job
  double score = 0;                 ///< the sum of all line terms, or the largest of all lap terms
  std::vector<LineTerm> lines;      ///< largest first
  std::vector<LapTerm> laps;        ///< slowest first
  std::size_t left_out = 0;         ///< terms that follow
  double left_out_score = 0;        ///< their sum; of nodes alone
};

/// Nothing: no such node in the newest attempt, or no column at that time. Error: as of
/// score_matrix().
Result<std::optional<Terms>> cell_terms(const job::JobState& state, const TermsQuery& query);
/// The same of several cells at once, in their order; nothing, too, where it would be an error.
std::vector<std::optional<Terms>> terms_of_cells(const job::JobState& state,
                                                 const std::vector<TermsQuery>& queries);

}  // namespace l4::scores
