// Isolation Forest (Liu, Ting, Zhou 2008; the paper, 5.3.1): rows that few random cuts isolate.
// Flow: spatial.cc and paper.cc grow one per window. Pure: matrix, options and seed in, scores out;
// the same seed gives the same forest. A matrix is rows x columns = nodes x events, column-major;
// equal rows may be given once with a multiplicity, which costs nothing and changes no score. score
// = 2^(-E[h] / c(psi)), h = edges to the leaf + c(rows in the leaf), c = average_path_length.
// Values must be finite. Without rows or varying columns every score is the same.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aggregator/numbers/spatial.h"

namespace l4::detect::spatial {

/// Subsample size that means: every row, with its multiplicity.
inline constexpr std::size_t kAllRows = 0;

/// As in force: aggregator/numbers/spatial.h says what each number means.
struct ForestOptions {
  std::size_t trees = numbers::spatial().forest_trees;
  std::size_t subsample = numbers::spatial().forest_subsample;
  std::size_t height_limit = 0;  ///< edges; 0: ceil(log2(psi))
  std::uint64_t seed = 1;
  std::vector<double> column_weights =
      {};  ///< how often a column is cut; empty: all alike; 0: never
};

/// c(n): mean path length of an unsuccessful search in a binary search tree of n rows.
double average_path_length(double n);
/// Score of a mean depth in trees grown on psi rows; 0.5 where psi leaves nothing to compare.
double anomaly_score(double mean_depth, double psi);

struct TreeNode {
  std::int32_t left = -1;  ///< -1: a leaf
  std::int32_t right = -1;
  std::int32_t column = -1;
  double threshold = 0;  ///< go left when value <= threshold
  double rows = 0;       ///< rows of the sample in this node, multiplicities counted
};
using Tree = std::vector<TreeNode>;

class IsolationForest {
 public:
  /// Trees made elsewhere. `psi`: rows each was grown on.
  IsolationForest(std::vector<Tree> trees, double psi);

  /// `multiplicity` is empty (all 1) or one positive number per row.
  static IsolationForest grow(const Eigen::MatrixXd& rows,
                              std::span<const std::uint32_t> multiplicity,
                              const ForestOptions& options);

  /// Depth of one row in one tree, in edges, the unsearched rest of the leaf included.
  double depth(std::size_t tree, const Eigen::MatrixXd& rows, Eigen::Index row) const;
  /// One score in (0, 1] per row.
  Eigen::VectorXd scores(const Eigen::MatrixXd& rows) const;

  std::size_t size() const { return trees_.size(); }
  double psi() const { return psi_; }

 private:
  std::vector<Tree> trees_;
  double psi_;
};

}  // namespace l4::detect::spatial
