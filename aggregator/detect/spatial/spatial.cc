#include "aggregator/detect/spatial/spatial.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "aggregator/detect/spatial/evidence.h"
#include "aggregator/detect/spatial/isolation_forest.h"
#include "aggregator/numbers/spatial.h"

namespace l4::detect::spatial {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// -ln share; 0 for columns in which no node or every node stands out.
VectorXd rarity(const Evidence& evidence) {
  return evidence.share.unaryExpr([](double share) { return share > 0 ? -std::log(share) : 0.0; });
}

/// The distinct rows of Z over its non-zero columns: nearly all rows are zero, so few are left.
struct DistinctRows {
  MatrixXd rows;
  std::vector<std::uint32_t> copies;
  std::vector<Index> row_of_node;
};

std::uint64_t hash_row(const MatrixXd& z, Index node, const std::vector<Index>& columns) {
  std::uint64_t hash = 0x9E3779B97F4A7C15;
  for (Index column : columns) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(z(node, column))) * 0xBF58476D1CE4E5B9;
    hash ^= hash >> 29;
  }
  return hash;
}

DistinctRows distinct_rows(const MatrixXd& z, const std::vector<Index>& columns) {
  DistinctRows out;
  std::vector<Index> example;  // node that stands for each distinct row
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_hash;
  const auto equal = [&](Index a, Index b) {
    return std::ranges::all_of(columns, [&](Index c) { return z(a, c) == z(b, c); });
  };
  for (Index node = 0; node < z.rows(); ++node) {
    auto& candidates = by_hash[hash_row(z, node, columns)];
    auto found = std::ranges::find_if(
        candidates, [&](std::size_t candidate) { return equal(example[candidate], node); });
    if (found == candidates.end()) {
      candidates.push_back(example.size());
      found = candidates.end() - 1;
      example.push_back(node);
      out.copies.push_back(0);
    }
    ++out.copies[*found];
    out.row_of_node.push_back(static_cast<Index>(*found));
  }
  out.rows = z(example, columns);
  return out;
}

/// A: the forest's score above its median, divided by the largest such value.
VectorXd isolation(const Evidence& evidence, const VectorXd& rare, const SpatialOptions& options) {
  const Index nodes = evidence.z.rows();
  std::vector<Index> columns;
  ForestOptions forest;
  for (Index column = 0; column < evidence.z.cols(); ++column) {
    if (evidence.share[column] <= 0) continue;
    columns.push_back(column);
    forest.column_weights.push_back(evidence.z.col(column).cwiseAbs().maxCoeff() *
                                    std::max(numbers::spatial().column_weight_min, rare[column]));
  }
  if (columns.empty() || nodes < 2) return VectorXd::Zero(nodes);
  const DistinctRows distinct = distinct_rows(evidence.z, columns);
  forest.trees = options.trees;
  forest.subsample = kAllRows;
  forest.seed = options.seed;
  const VectorXd scores =
      IsolationForest::grow(distinct.rows, distinct.copies, forest).scores(distinct.rows);
  const VectorXd per_node = scores(distinct.row_of_node);
  const double usual = median(std::vector<double>(per_node.begin(), per_node.end()));
  const double spread = per_node.maxCoeff() - usual;
  if (spread < options.isolation_min) return VectorXd::Zero(nodes);
  return ((per_node.array() - usual) / spread).max(0.0);
}

std::vector<Contribution> contributions(const SpatialInput& input, const Evidence& evidence,
                                        const VectorXd& rare, Index node) {
  std::vector<Contribution> found;
  const Index events = input.events();
  for (Index column = 0; column <= events; ++column) {
    const double z = evidence.z(node, column);
    if (z == 0) continue;
    Contribution one{column, evidence.kind_at(node, column), z, std::abs(z) * rare[column]};
    if (column < events) {
      one.count = input.counts(node, column);
      one.expected = evidence.expected(node, column);
    } else {
      const double own = input.last_line_ms[static_cast<std::size_t>(node)];
      one.event = -1;
      one.count = (evidence.usual_last_ms - own) / 1'000;
    }
    found.push_back(one);
  }
  std::ranges::stable_sort(found, [](const Contribution& a, const Contribution& b) {
    return a.term != b.term ? a.term > b.term : std::abs(a.z) > std::abs(b.z);
  });
  return found;
}

/// Earliest time of a new cell or the last line of a stale node; NaN for nodes with neither.
double evidence_time(const SpatialInput& input, const NodeScore& node) {
  double earliest = std::numeric_limits<double>::infinity();
  for (const Contribution& part : node.contributions) {
    double time = std::numeric_limits<double>::quiet_NaN();
    if (part.kind == EvidenceKind::stale) {
      time = input.last_line_ms[static_cast<std::size_t>(node.node)];
    } else if (part.kind == EvidenceKind::fresh && input.first_ms.size() > 0) {
      time = input.first_ms(node.node, part.event);
    }
    if (time < earliest) earliest = time;
  }
  return std::isfinite(earliest) ? earliest : std::numeric_limits<double>::quiet_NaN();
}

/// Order of nodes in the heaviest burst: evidence that follows without long gaps.
void rank_by_order(const SpatialInput& input, const SpatialOptions& options,
                   std::vector<NodeScore>& nodes) {
  std::vector<NodeScore*> timed;
  for (NodeScore& node : nodes) {
    node.first_ms = evidence_time(input, node);
    if (std::isfinite(node.first_ms)) timed.push_back(&node);
  }
  if (timed.empty() || nodes.size() < 2) return;
  std::ranges::stable_sort(timed, {}, [](const NodeScore* node) { return node->first_ms; });
  std::size_t best_begin = 0, best_end = 0;
  double best = -1;
  for (std::size_t begin = 0; begin < timed.size();) {
    std::size_t end = begin;
    double weight = 0;
    do {
      weight += timed[end]->explanation;
      ++end;
    } while (end < timed.size() &&
             timed[end]->first_ms - timed[end - 1]->first_ms <= options.burst_gap_ms);
    if (weight > best) {
      best = weight;
      best_begin = begin;
      best_end = end;
    }
    begin = end;
  }
  const double all = static_cast<double>(nodes.size());
  for (std::size_t i = best_begin; i < best_end; ++i) {
    const bool tied = i > best_begin && timed[i]->first_ms == timed[i - 1]->first_ms;
    timed[i]->order = tied ? timed[i - 1]->order : static_cast<std::uint32_t>(i - best_begin + 1);
    timed[i]->order_bonus = std::log(all / timed[i]->order) / std::log(all);
  }
}

}  // namespace

SpatialResult compare_nodes(const SpatialInput& input, const SpatialOptions& options) {
  SpatialResult result;
  result.ripe = input.history_windows >= options.ripe_windows;
  const Index count = input.nodes();
  if (count == 0) return result;
  const Evidence evidence = gather_evidence(input, options.evidence);
  const VectorXd rare = rarity(evidence);
  const VectorXd isolated = isolation(evidence, rare, options);
  const double scale = std::log(static_cast<double>(count));
  for (Index i = 0; i < count; ++i) {
    NodeScore& node = result.nodes.emplace_back();
    node.node = i;
    node.contributions = contributions(input, evidence, rare, i);
    for (const Contribution& part : node.contributions) node.explanation += part.term;
    node.isolation = isolated[i];
    node.alarm = node.explanation > 0 && node.explanation >= options.alarm_factor * scale;
    result.alarm = result.alarm || node.alarm;
  }
  rank_by_order(input, options, result.nodes);
  for (NodeScore& node : result.nodes) {
    const double trust = count > 1 ? std::min(1.0, node.explanation / (2 * scale)) : 0;
    node.score = node.isolation * trust + node.order_bonus;
  }
  std::ranges::stable_sort(result.nodes, [](const NodeScore& a, const NodeScore& b) {
    return a.score != b.score ? a.score > b.score : a.explanation > b.explanation;
  });
  return result;
}

}  // namespace l4::detect::spatial
