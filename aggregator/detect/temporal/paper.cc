#include "aggregator/detect/temporal/paper.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace l4::detect::temporal {

std::vector<PaperIteration> score_iterations_paper(std::span<const Sequence> iterations) {
  constexpr std::size_t kWindow = 10;
  constexpr double kRounding = 1e-9;  // equal scores must not lie above their own mean
  std::vector<PaperIteration> result(iterations.size());
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    PaperIteration& one = result[i];
    const std::size_t first = i > kWindow ? i - kWindow : 0;
    std::size_t sum = 0;
    for (std::size_t j = first; j < i; ++j) {
      const std::size_t distance = dtw_symbols(iterations[i], iterations[j]);
      one.nearest = j == first ? distance : std::min(one.nearest, distance);
      sum += distance;
    }
    if (i == 0) continue;
    one.score = static_cast<double>(sum) / static_cast<double>(i - first);
    const auto earlier = static_cast<double>(i);
    for (std::size_t j = 0; j < i; ++j) one.mean += result[j].score / earlier;
    double square = 0;
    for (std::size_t j = 0; j < i; ++j) square += std::pow(result[j].score - one.mean, 2);
    one.deviation = std::sqrt(square / earlier);
    one.abnormal = i >= kWindow && one.score > one.mean + 3 * one.deviation + kRounding;
  }
  return result;
}

}  // namespace l4::detect::temporal
