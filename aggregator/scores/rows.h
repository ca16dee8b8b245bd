// The worst rows of a matrix, as they come, and columns of equal width.
//
// Place in the flow: node_scores.cc and rank_scores.cc offer rows; only the worst `most` are kept,
// so memory does not grow with the ranks. Private to this room.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "aggregator/scores/matrix.h"

namespace l4::scores {

/// Columns over [first, end), each `step` wide but for the last.
struct Columns {
  std::int64_t first = 0, end = 0, step = 1;

  std::size_t count() const { return static_cast<std::size_t>((end - first + step - 1) / step); }
  std::size_t at(std::int64_t place) const {
    return static_cast<std::size_t>((place - first) / step);
  }
  bool has(std::int64_t place) const { return place >= first && place < end; }
  std::int64_t begin_of(std::size_t column) const {
    return first + static_cast<std::int64_t>(column) * step;
  }
};

/// At most `width` columns; their width is a multiple of `unit`.
Columns columns_over(std::int64_t first, std::int64_t end, std::size_t width,
                     std::int64_t unit = 1);

class WorstRows {
 public:
  explicit WorstRows(std::size_t most) : most_(most) {}

  /// `name` fills in whose row it is; it is called only for rows that are kept.
  void offer(const std::vector<Score>& cells, const std::function<void(Row&)>& name);
  /// Moves the rows into the matrix, worst first; rows of equal scores as they were offered.
  void finish(Matrix& matrix);

 private:
  struct Kept {
    std::uint64_t weight = 0;  ///< largest score, then their sum
    std::size_t order = 0;
    Row row;
  };
  static bool is_worse(const Kept& a, const Kept& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.order < b.order;
  }

  std::size_t most_, offered_ = 0;
  std::vector<Kept> kept_;  // a heap, the least bad row first
};

/// Keeps the larger score; a known one is larger than an unknown one.
inline void fold(Score score, Score& into) {
  if (score != kUnknown && (into == kUnknown || score > into)) into = score;
}

}  // namespace l4::scores
