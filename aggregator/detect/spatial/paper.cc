#include "aggregator/detect/spatial/paper.h"

#include <algorithm>
#include <cmath>

#include "aggregator/detect/spatial/isolation_forest.h"

namespace l4::detect::spatial {

std::vector<PaperNode> compare_nodes_paper(const Eigen::MatrixXd& counts, std::uint64_t seed) {
  std::vector<PaperNode> nodes;
  if (counts.rows() == 0) return nodes;
  ForestOptions options;
  options.seed = seed;
  const Eigen::VectorXd scores = IsolationForest::grow(counts, {}, options).scores(counts);
  const double mean = scores.mean();
  constexpr double kRounding = 1e-12;  // equal scores must not lie above their own mean
  const double limit = mean + 3 * std::sqrt((scores.array() - mean).square().mean()) + kRounding;
  for (Eigen::Index i = 0; i < counts.rows(); ++i) {
    PaperNode& node = nodes.emplace_back();
    node.node = i;
    node.score = scores[i];
    node.suspicious = scores[i] > limit;
    if (!node.suspicious) continue;
    for (Eigen::Index event = 0; event < counts.cols(); ++event) {
      if (counts(i, event) > 0) node.events.push_back(event);
    }
    std::ranges::stable_sort(node.events,
                             [&](auto a, auto b) { return counts(i, a) > counts(i, b); });
  }
  std::ranges::stable_sort(nodes, [](const auto& a, const auto& b) { return a.score > b.score; });
  return nodes;
}

}  // namespace l4::detect::spatial
