// Spatial comparison exactly as published (the paper, 5.3.1), for `scoring = "paper"`.
//
// Flow: diagnose -> compare_nodes_paper(counts) instead of compare_nodes(). Pure; the seed decides.
// Isolation Forest with 100 trees of min(256, N) rows over raw counts (N nodes x d events); nodes
// by score; the suspicious ones lie above mean + 3 (population) standard deviations, and the
// events they printed are the failure-indicating ones. Kept so that both can be compared.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace l4::detect::spatial {

struct PaperNode {
  Eigen::Index node = 0;  ///< row of the input
  double score = 0;
  bool suspicious = false;
  std::vector<Eigen::Index> events;  ///< suspicious nodes: what they printed, most frequent first
};

/// Every node, highest score first; ties by index.
std::vector<PaperNode> compare_nodes_paper(const Eigen::MatrixXd& counts, std::uint64_t seed);

}  // namespace l4::detect::spatial
