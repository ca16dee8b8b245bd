#include "common/wire/figures.h"

#include <algorithm>
#include <cmath>

namespace l4::wire {

FigureWindow joined(const FigureWindow& first, const FigureWindow& second) {
  if (first.count == 0) return second;
  if (second.count == 0) return first;
  FigureWindow both = second;
  both.first = first.first ? first.first : second.first;
  both.count = first.count + second.count;
  both.not_finite = first.not_finite + second.not_finite;
  const bool goes_on =
      second.run == second.count &&
      (std::isfinite(second.final) ? first.final == second.final : !std::isfinite(first.final));
  if (goes_on) {
    both.run = first.run + second.run;
    both.run_from = first.run_from;
  }
  if (first.finite() == 0) return both;
  const bool any = second.finite() > 0;
  both.least = any ? std::min(first.least, second.least) : first.least;
  both.most = any ? std::max(first.most, second.most) : first.most;
  const double share = static_cast<double>(second.finite()) / static_cast<double>(both.finite());
  both.median = first.median + (any ? share * (second.median - first.median) : 0);
  return both;
}

}  // namespace l4::wire
