#include "aggregator/detect/temporal/dtw.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace l4::detect::temporal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Plain DTW over any cell cost; columns of row i are limited to [first(i), last(i)).
template <class Number, class Cost, class Range>
Number warp(std::size_t rows, std::size_t columns, Number unreachable, Cost cost, Range range) {
  std::vector<Number> row(columns + 1, unreachable);
  row[0] = Number{0};
  for (std::size_t i = 0; i < rows; ++i) {
    const auto [first, last] = range(i);
    Number diagonal = row[first];
    row[first] = unreachable;
    if (i > 0 || first > 0) std::fill_n(row.begin(), first, unreachable);
    Number left = unreachable;
    for (std::size_t j = first; j < last; ++j) {
      const Number above = row[j + 1];
      left = std::min({diagonal, above, left}) + cost(i, j);
      row[j + 1] = left;
      diagonal = above;
    }
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(last) + 1, row.end(), unreachable);
  }
  return row[columns];
}

struct Span {
  std::size_t first, last;
};

double total(std::span<const double> cost) {
  return std::reduce(cost.begin(), cost.end(), 0.0);
}

/// The directional recurrence row by row. Both sequences repeat their end symbols once more, so
/// that a neighbourhood of three never needs a bound.
class Directional {
 public:
  struct Cell {
    double extra, missing;  // c+ and c-
  };

  Directional(const Priced& x, const Priced& y)
      : x_(padded(x.symbols)), y_(padded(y.symbols)), extra_(x.cost), missing_(y.cost) {}

  std::size_t rows() const { return extra_.size(); }
  std::size_t columns() const { return missing_.size(); }

  Cell cell(std::size_t i, std::size_t j) const {
    const Symbol* x = &x_[i];
    const Symbol* y = &y_[j];
    const bool here = x[1] == y[1];
    const bool in_y = here | (x[1] == y[0]) | (x[1] == y[2]);
    const bool in_x = here | (y[1] == x[0]) | (y[1] == x[2]);
    return {in_y ? 0 : extra_[i], in_x ? 0 : missing_[j]};
  }

  /// `above` is row i - 1 of the table, `row` becomes row i; returns the least value of `row`.
  double fill(std::size_t i, std::span<const double> above, std::span<double> row) const {
    double least = kInfinity;
    double left = kInfinity;
    row[0] = kInfinity;
    for (std::size_t j = 0; j < columns(); ++j) {
      const auto [extra, missing] = cell(i, j);
      const double down = std::min(above[j] + std::max(extra, missing), above[j + 1] + extra);
      left = std::min(down, left + missing);
      row[j + 1] = left;
      least = std::min(least, left);
    }
    return least;
  }

 private:
  static Sequence padded(SequenceView symbols) {
    Sequence result;
    result.reserve(symbols.size() + 2);
    result.push_back(symbols.front());
    result.insert(result.end(), symbols.begin(), symbols.end());
    result.push_back(symbols.back());
    return result;
  }

  Sequence x_, y_;
  std::span<const double> extra_, missing_;
};

/// Cost of stopping: the last cell, or with an open end the cheapest of the last row.
std::size_t end_column(std::span<const double> last_row, bool open_end) {
  if (!open_end) return last_row.size() - 1;
  const auto best = std::ranges::min_element(last_row.subspan(1));
  return static_cast<std::size_t>(best - last_row.begin());
}

std::vector<std::size_t> positions(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Alignment with an empty sequence: every symbol of the other one is paid.
Alignment align_with_nothing(const Priced& x, const Priced& y, bool open_end) {
  Alignment result;
  result.extra = positions(x.symbols.size());
  result.extra_cost = total(x.cost);
  if (!open_end) {
    result.missing = positions(y.symbols.size());
    result.missing_cost = total(y.cost);
  }
  result.distance = result.extra_cost + result.missing_cost;
  return result;
}

}  // namespace

Sequence collapse_runs(SequenceView symbols) {
  Sequence result;
  result.reserve(symbols.size());
  std::ranges::unique_copy(symbols, std::back_inserter(result));
  return result;
}

std::uint64_t hash_sequence(SequenceView symbols) {
  std::uint64_t hash = 0x9E3779B97F4A7C15 + symbols.size();
  for (Symbol symbol : symbols) {
    hash = (hash ^ symbol) * 0xBF58476D1CE4E5B9;
    hash ^= hash >> 31;
  }
  return hash;
}

std::size_t dtw_symbols(SequenceView a, SequenceView b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const auto whole = [&](std::size_t) { return Span{0, b.size()}; };
  constexpr std::uint32_t kUnreachable = std::numeric_limits<std::uint32_t>::max() / 2;
  return warp<std::uint32_t>(
      a.size(), b.size(), kUnreachable,
      [&](std::size_t i, std::size_t j) { return a[i] == b[j] ? 0U : 1U; }, whole);
}

double directional_distance(const Priced& x, const Priced& y, const DistanceOptions& options) {
  if (x.symbols.empty() || y.symbols.empty()) {
    return align_with_nothing(x, y, options.open_end).distance;
  }
  const Directional recurrence(x, y);
  const std::size_t width = recurrence.columns() + 1;
  std::vector<double> above(width, kInfinity);
  std::vector<double> row(width);
  above[0] = 0;
  for (std::size_t i = 0; i < recurrence.rows(); ++i) {
    // Costs are at least 0, so later rows stay above the least value of this one.
    if (recurrence.fill(i, above, row) >= options.below) return kInfinity;
    std::swap(above, row);
  }
  return above[end_column(above, options.open_end)];
}

Alignment align(const Priced& x, const Priced& y, bool open_end) {
  if (x.symbols.empty() || y.symbols.empty()) return align_with_nothing(x, y, open_end);
  const Directional recurrence(x, y);
  const std::size_t width = recurrence.columns() + 1;
  std::vector<double> table((recurrence.rows() + 1) * width, kInfinity);
  table[0] = 0;
  const auto row = [&](std::size_t i) { return std::span(table).subspan(i * width, width); };
  for (std::size_t i = 0; i < recurrence.rows(); ++i) recurrence.fill(i, row(i), row(i + 1));
  Alignment result;
  std::size_t i = recurrence.rows();
  std::size_t j = end_column(row(i), open_end);
  result.distance = row(i)[j];
  while (i > 0 && j > 0) {
    const auto [extra, missing] = recurrence.cell(i - 1, j - 1);
    const double here = row(i)[j];
    // Among paths of equal cost, one without replacements explains more simply.
    const bool along = here == row(i)[j - 1] + missing;
    const bool upward = here == row(i - 1)[j] + extra;
    const bool replaces = extra > 0 && missing > 0;
    const bool diagonal =
        here == row(i - 1)[j - 1] + std::max(extra, missing) && !(replaces && (along || upward));
    const bool down = diagonal || (upward && !along);
    const bool across = diagonal || along;
    if (down && extra > 0) {
      result.extra.push_back(i - 1);
      result.extra_cost += extra;
    }
    if (across && missing > 0) {
      result.missing.push_back(j - 1);
      result.missing_cost += missing;
    }
    i -= down ? 1 : 0;
    j -= across ? 1 : 0;
  }
  std::ranges::reverse(result.extra);
  std::ranges::reverse(result.missing);
  return result;
}

}  // namespace l4::detect::temporal
