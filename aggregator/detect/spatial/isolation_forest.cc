#include "aggregator/detect/spatial/isolation_forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "common/base/check.h"

namespace l4::detect::spatial {
namespace {

constexpr double kEulerGamma = 0.57721566490153286061;

/// Uniform in [0, 1); spelled out because std's distributions differ between libraries.
double unit(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1.0p-53;
}

struct Sampled {
  Eigen::Index row;
  double weight;
};

/// Grows one tree after the other over the same matrix, reusing its buffers.
class Grower {
 public:
  Grower(const Eigen::MatrixXd& rows, std::span<const std::uint32_t> multiplicity,
         const ForestOptions& options);

  double psi() const { return psi_; }
  Tree grow_tree();

 private:
  using Iterator = std::vector<Sampled>::iterator;
  struct Cut {
    std::size_t column;
    double threshold;
  };

  void draw_sample();
  std::int32_t grow_node(Tree& tree, Iterator begin, Iterator end, std::size_t height,
                         std::size_t constant);
  /// A column that varies over the rows, and where to cut it; false when all rows are equal.
  bool draw_cut(Iterator begin, Iterator end, std::size_t& constant, Cut& cut);
  std::size_t draw_position(std::size_t first);
  const double* column(std::size_t index) const {
    return rows_.data() + static_cast<Eigen::Index>(index) * rows_.rows();
  }

  const Eigen::MatrixXd& rows_;
  std::mt19937_64 random_;
  std::vector<double> weights_;
  std::vector<Eigen::Index> expanded_;  // row of each copy; empty when every row is taken
  std::vector<Sampled> all_;
  std::vector<Sampled> sample_;
  std::vector<std::size_t> columns_;  // permuted; a node keeps its known constant columns in front
  double psi_ = 0;
  std::size_t height_limit_ = 0;
};

Grower::Grower(const Eigen::MatrixXd& rows, std::span<const std::uint32_t> multiplicity,
               const ForestOptions& options)
    : rows_(rows), random_(options.seed), weights_(options.column_weights) {
  double total = 0;
  for (Eigen::Index row = 0; row < rows.rows(); ++row) {
    const double copies = multiplicity.empty() ? 1 : multiplicity[static_cast<std::size_t>(row)];
    all_.push_back({row, copies});
    total += copies;
  }
  psi_ = total;
  if (options.subsample != kAllRows && static_cast<double>(options.subsample) < total) {
    psi_ = static_cast<double>(options.subsample);
    for (const Sampled& entry : all_) {
      expanded_.insert(expanded_.end(), static_cast<std::size_t>(entry.weight), entry.row);
    }
  }
  height_limit_ = options.height_limit;
  if (height_limit_ == 0 && psi_ > 1) {
    height_limit_ = static_cast<std::size_t>(std::ceil(std::log2(psi_)));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows.cols()); ++i) {
    if (weights_.empty() || weights_[i] > 0) columns_.push_back(i);
  }
}

void Grower::draw_sample() {
  if (expanded_.empty()) {
    sample_ = all_;
    return;
  }
  sample_.clear();
  const auto wanted = static_cast<std::size_t>(psi_);
  for (std::size_t i = 0; i < wanted; ++i) {
    const double left = static_cast<double>(expanded_.size() - i);
    std::swap(expanded_[i], expanded_[i + static_cast<std::size_t>(unit(random_) * left)]);
    sample_.push_back({expanded_[i], 1.0});
  }
}

Tree Grower::grow_tree() {
  draw_sample();
  Tree tree;
  tree.reserve(2 * sample_.size());
  grow_node(tree, sample_.begin(), sample_.end(), 0, 0);
  return tree;
}

std::size_t Grower::draw_position(std::size_t first) {
  if (weights_.empty()) {
    const double left = static_cast<double>(columns_.size() - first);
    return first + static_cast<std::size_t>(unit(random_) * left);
  }
  double total = 0;
  for (std::size_t i = first; i < columns_.size(); ++i) total += weights_[columns_[i]];
  double rest = unit(random_) * total;
  for (std::size_t i = first; i + 1 < columns_.size(); ++i) {
    rest -= weights_[columns_[i]];
    if (rest < 0) return i;
  }
  return columns_.size() - 1;
}

bool Grower::draw_cut(Iterator begin, Iterator end, std::size_t& constant, Cut& cut) {
  while (constant < columns_.size()) {
    std::swap(columns_[constant], columns_[draw_position(constant)]);
    const std::size_t index = columns_[constant];
    const double* values = column(index);
    double low = values[begin->row];
    double high = low;
    for (Iterator it = begin; it != end; ++it) {
      low = std::min(low, values[it->row]);
      high = std::max(high, values[it->row]);
    }
    if (low < high) {
      const double threshold = low + unit(random_) * (high - low);
      cut = {index, threshold < high ? threshold : low};
      return true;
    }
    ++constant;
  }
  return false;
}

std::int32_t Grower::grow_node(Tree& tree, Iterator begin, Iterator end, std::size_t height,
                               std::size_t constant) {
  const auto index = static_cast<std::int32_t>(tree.size());
  TreeNode node;
  for (Iterator it = begin; it != end; ++it) node.rows += it->weight;
  tree.push_back(node);
  Cut cut{};
  if (end - begin < 2 || height >= height_limit_ || !draw_cut(begin, end, constant, cut)) {
    return index;
  }
  const double* values = column(cut.column);
  const Iterator middle = std::partition(
      begin, end, [&](const Sampled& entry) { return values[entry.row] <= cut.threshold; });
  node.column = static_cast<std::int32_t>(cut.column);
  node.threshold = cut.threshold;
  node.left = grow_node(tree, begin, middle, height + 1, constant);
  node.right = grow_node(tree, middle, end, height + 1, constant);
  tree[static_cast<std::size_t>(index)] = node;
  return index;
}

}  // namespace

double average_path_length(double n) {
  if (n <= 1) return 0;
  if (n <= 2) return 1;
  return 2 * (std::log(n - 1) + kEulerGamma) - 2 * (n - 1) / n;
}

double anomaly_score(double mean_depth, double psi) {
  const double normal = average_path_length(psi);
  return normal > 0 ? std::exp2(-mean_depth / normal) : 0.5;
}

IsolationForest::IsolationForest(std::vector<Tree> trees, double psi)
    : trees_(std::move(trees)), psi_(psi) {}

IsolationForest IsolationForest::grow(const Eigen::MatrixXd& rows,
                                      std::span<const std::uint32_t> multiplicity,
                                      const ForestOptions& options) {
  L4_CHECK(multiplicity.empty() || std::ssize(multiplicity) == rows.rows(),
           "{} multiplicities for {} rows", multiplicity.size(), rows.rows());
  std::vector<Tree> trees;
  if (rows.rows() == 0) return {std::move(trees), 0};
  Grower grower(rows, multiplicity, options);
  trees.reserve(options.trees);
  for (std::size_t i = 0; i < options.trees; ++i) trees.push_back(grower.grow_tree());
  return {std::move(trees), grower.psi()};
}

double IsolationForest::depth(std::size_t tree, const Eigen::MatrixXd& rows,
                              Eigen::Index row) const {
  const TreeNode* nodes = trees_[tree].data();
  const double* values = rows.data();
  const TreeNode* node = nodes;
  double edges = 0;
  while (node->left >= 0) {
    const bool left = values[node->column * rows.rows() + row] <= node->threshold;
    node = nodes + (left ? node->left : node->right);
    ++edges;
  }
  return edges + average_path_length(node->rows);
}

Eigen::VectorXd IsolationForest::scores(const Eigen::MatrixXd& rows) const {
  Eigen::VectorXd result = Eigen::VectorXd::Constant(rows.rows(), 0.5);
  if (trees_.empty()) return result;
  for (Eigen::Index row = 0; row < rows.rows(); ++row) {
    double sum = 0;
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) sum += depth(tree, rows, row);
    result[row] = anomaly_score(sum / static_cast<double>(trees_.size()), psi_);
  }
  return result;
}

}  // namespace l4::detect::spatial
