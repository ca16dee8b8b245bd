// Scores of a job's nodes or ranks over its life, small enough to be drawn.
//
// Place in the flow: GET /api/v1/jobs/{id}/scores -> score_matrix() on the thread of the job's
// shard -> rows/score_rows.h. Rows are ordered worst first: by their largest score, then by the sum
// of their scores. Columns have equal widths and the largest score in them. Nothing is kept: a
// matrix is computed from the job's state each time, and its cost is bounded by kCellsMax. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/ids.h"

namespace l4::job {
class JobState;
}  // namespace l4::job

namespace l4::scores {

enum class What : std::uint8_t {
  nodes,   ///< a node a row; nats: detect/spatial/window_scores.h
  ranks,   ///< a rank a row; ln(duration of the iteration / the rank's usual one)
  phases,  ///< a printed timer of a rank a row; the same of the timer
};

/// A score in one byte: steps of step_of() from 0 on, the largest stands for all beyond.
using Score = std::uint8_t;
inline constexpr Score kUnknown = 255, kLargest = 254;
double step_of(What what);
Score score_of(double value, What what);

/// Values compared for a matrix of nodes, and rows of which one is built.
inline constexpr std::size_t kCellsMax = 30'000'000, kColumnsLeast = 16;
inline constexpr std::size_t kPhasesMax = 12;

struct Query {
  What what = What::nodes;
  std::string from, to;     ///< times (RFC 3339) or iterations; empty: all that is known
  std::size_t width = 120;  ///< columns at most
  std::size_t rows = 256;   ///< at most
};

struct Row {
  std::string node;
  std::optional<Rank> rank;
  std::string phase;
  std::vector<Score> cells;  ///< by column
};

/// What an iteration, or one of its phases, took in the job as a whole: by column, over all ranks.
struct Course {
  std::string phase;  ///< name of the timer; empty: the whole iteration
  std::vector<std::optional<double>> mean_ms, most_ms;
};

struct Matrix {
  What what = What::nodes;
  std::int32_t attempt = 0;
  bool by_time = false;              ///< columns are of time; else of iterations
  std::vector<std::int64_t> begins;  ///< of the columns: ms since 1970, or iterations
  std::int64_t end = 0;              ///< of the last column, exclusive
  std::vector<Row> rows;
  std::size_t left_out = 0;  ///< rows that follow
  /// Of ranks: of iterations; of phases: of the kPhasesMax that take longest, longest first.
  std::vector<Course> course;
};

/// The newest attempt. Without columns if nothing can be scored yet. Error: from or to is not of
/// the kind that the columns are of.
Result<Matrix> score_matrix(const job::JobState& state, const Query& query);

}  // namespace l4::scores
