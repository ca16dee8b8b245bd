#include "aggregator/detect/spatial/isolation_forest.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace l4::detect::spatial;

namespace {

const std::string kReference = L4_SOURCE_DIR "/../shared/data/reference/";

/// Rows of numbers; the first line is skipped if it is a header. Empty if there is no such file.
std::vector<std::vector<double>> read_table(const std::string& name, bool header) {
  std::ifstream file(kReference + name);
  std::vector<std::vector<double>> rows;
  if (!file) MESSAGE("skipped: no reference file " << name);
  std::string line;
  if (header) std::getline(file, line);
  while (std::getline(file, line)) {
    for (char& c : line) c = c == ',' ? ' ' : c;
    std::istringstream fields(line);
    std::vector<double>& row = rows.emplace_back();
    for (double value; fields >> value;) row.push_back(value);
  }
  return rows;
}

Eigen::MatrixXd to_matrix(const std::vector<std::vector<double>>& rows) {
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows.size()),
                         static_cast<Eigen::Index>(rows.empty() ? 0 : rows[0].size()));
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      matrix(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    }
  }
  return matrix;
}

bool near(double got, double expected, double relative) {
  return std::abs(got - expected) <= relative * std::max(1.0, std::abs(expected));
}

Eigen::VectorXd mean_scores(const Eigen::MatrixXd& data, ForestOptions options, int seeds) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(data.rows());
  for (int seed = 0; seed < seeds; ++seed) {
    options.seed = static_cast<std::uint64_t>(seed) + 100;
    sum += IsolationForest::grow(data, {}, options).scores(data);
  }
  return sum / seeds;
}

}  // namespace

TEST_CASE("average path length and score follow the published formulas") {
  CHECK(average_path_length(0) == 0);
  CHECK(average_path_length(1) == 0);
  CHECK(average_path_length(2) == 1);
  CHECK(near(average_path_length(3), 1.207392357589623, 1e-14));
  CHECK(near(average_path_length(256), 10.244770920119917, 1e-14));
  CHECK(near(anomaly_score(12.75, 256), 0.42204322059598426, 1e-14));
  CHECK(near(anomaly_score(2.5, 16), 0.6913934954988035, 1e-14));
  CHECK(anomaly_score(3, 1) == 0.5);
  for (const auto& row : read_table("iforest_average_path_length.tsv", true)) {
    CHECK(near(average_path_length(row[0]), row[1], 1e-12));
  }
  for (const auto& row : read_table("iforest_score_formula.tsv", true)) {
    CHECK(near(anomaly_score(row[1], row[0]), row[2], 1e-12));
  }
}

TEST_CASE("depths in given trees") {
  // column 0 <= 1.5 -> leaf of 3 rows; else column 1 <= 0 -> leaf of 1, leaf of 4.
  Tree tree{{1, 2, 0, 1.5, 8},
            {-1, -1, -1, 0, 3},
            {3, 4, 1, 0, 5},
            {-1, -1, -1, 0, 1},
            {-1, -1, -1, 0, 4}};
  const IsolationForest forest({tree}, 8);
  Eigen::MatrixXd rows(3, 2);
  rows << 1.5, 9, 2, 0, 2, 1;
  CHECK(near(forest.depth(0, rows, 0), 1 + 1.207392357589623, 1e-14));
  CHECK(forest.depth(0, rows, 1) == 2);
  CHECK(near(forest.depth(0, rows, 2), 2 + 1.8516559071392846, 1e-14));
  CHECK(near(forest.scores(rows)[1], anomaly_score(2, 8), 1e-14));
}

TEST_CASE("reference trees give the reference depths and scores") {
  const auto nodes = read_table("iforest_small_trees.tsv", true);
  const auto expected = read_table("iforest_small_scores.tsv", true);
  const auto data = to_matrix(read_table("iforest_small_data.csv", false));
  std::vector<Tree> trees;
  for (const auto& row : nodes) {
    if (row[1] == 0) trees.emplace_back();
    trees.back().push_back({static_cast<std::int32_t>(row[2]), static_cast<std::int32_t>(row[3]),
                            static_cast<std::int32_t>(row[4]), row[5], row[6]});
  }
  const IsolationForest forest(trees, 16);
  const Eigen::VectorXd scores = forest.scores(data);
  for (const auto& row : expected) {
    const auto i = static_cast<Eigen::Index>(row[0]);
    CHECK(near(scores[i], row[2], 1e-12));
    for (std::size_t tree = 0; tree < trees.size(); ++tree) {
      CHECK(near(forest.depth(tree, data, i), row[3 + tree], 1e-12));
    }
  }
}

TEST_CASE("mean scores agree with the reference forest") {
  const auto data = to_matrix(read_table("iforest_big_data.csv", false));
  const auto expected = read_table("iforest_big_scores.tsv", true);
  if (data.rows() == 0) return;
  const ForestOptions options{.trees = 500, .subsample = 256, .height_limit = 8};
  const Eigen::VectorXd mean = mean_scores(data, options, 20);
  int outside = 0;
  double worst = 0;
  for (const auto& row : expected) {
    const double off = std::abs(mean[static_cast<Eigen::Index>(row[0])] - row[1]);
    const double allowed = 4 * row[2] / std::sqrt(20.0) * 1.5;
    outside += off > allowed ? 1 : 0;
    worst = std::max(worst, off / allowed);
  }
  MESSAGE("largest difference is " << worst << " of the tolerance");
  CHECK(outside == 0);
}

TEST_CASE("a lone row stands out and the seed decides everything else") {
  Eigen::MatrixXd data = Eigen::MatrixXd::Zero(40, 3);
  for (Eigen::Index i = 0; i < 40; ++i) data(i, 0) = static_cast<double>(i % 4);
  data(17, 1) = 5;
  const ForestOptions options;
  const Eigen::VectorXd first = IsolationForest::grow(data, {}, options).scores(data);
  const Eigen::VectorXd again = IsolationForest::grow(data, {}, options).scores(data);
  CHECK((first.array() == again.array()).all());
  Eigen::Index top = 0;
  first.maxCoeff(&top);
  CHECK(top == 17);
}

TEST_CASE("multiplicities stand for copies of a row") {
  Eigen::MatrixXd distinct(3, 2);
  distinct << 0, 0, 3, 1, 0, 2;
  const std::vector<std::uint32_t> copies{60, 3, 1};
  Eigen::MatrixXd copied(64, 2);
  for (Eigen::Index i = 0; i < 64; ++i) copied.row(i) = distinct.row(i < 60 ? 0 : i < 63 ? 1 : 2);
  ForestOptions options{.trees = 4000, .subsample = kAllRows};
  const auto few = IsolationForest::grow(distinct, copies, options);
  const auto many = IsolationForest::grow(copied, {}, options);
  CHECK(few.psi() == 64);
  const Eigen::VectorXd a = few.scores(distinct);
  const Eigen::VectorXd b = many.scores(copied);
  CHECK(a[0] == doctest::Approx(b[0]).epsilon(0.01));
  CHECK(a[1] == doctest::Approx(b[60]).epsilon(0.01));
  CHECK(a[2] == doctest::Approx(b[63]).epsilon(0.01));
}

TEST_CASE("column weights of zero are never cut") {
  Eigen::MatrixXd data = Eigen::MatrixXd::Zero(16, 2);
  data(3, 0) = 9;
  data(5, 1) = 9;
  ForestOptions options;
  options.column_weights = {1, 0};
  const Eigen::VectorXd scores = IsolationForest::grow(data, {}, options).scores(data);
  CHECK(scores[3] > scores[5]);
  CHECK(scores[5] == scores[0]);
}

TEST_CASE("degenerate matrices give equal finite scores") {
  const ForestOptions options;
  for (const auto& [rows, cols] : {std::pair<int, int>{1, 3}, {2, 0}, {5, 2}, {0, 4}}) {
    const Eigen::MatrixXd data = Eigen::MatrixXd::Constant(rows, cols, 2);
    const Eigen::VectorXd scores = IsolationForest::grow(data, {}, options).scores(data);
    REQUIRE(scores.size() == rows);
    for (double score : scores) {
      CHECK(std::isfinite(score));
      CHECK(score == scores[0]);
    }
  }
}
