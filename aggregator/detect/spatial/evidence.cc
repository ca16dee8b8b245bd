#include "aggregator/detect/spatial/evidence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "aggregator/job/median.h"
#include "aggregator/numbers/spatial.h"
#include "common/base/check.h"

namespace l4::detect::spatial {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

bool flag(const std::vector<std::uint8_t>& flags, Index event) {
  return !flags.empty() && flags[static_cast<std::size_t>(event)] != 0;
}

double median_of(const VectorXd& values) {
  return median(std::vector<double>(values.begin(), values.end()));
}

/// Expected counts of one event if nothing were wrong.
struct Expectation {
  VectorXd rate;          // lambda: per window and node, from history
  VectorXd count;         // L: the rate times the job-wide change
  double dispersion = 1;  // phi
};

/// Pooled variance within nodes over the mean: 1 for Poisson counts, more for bursts.
double dispersion(const SpatialInput& input, Index event, double mean) {
  if (input.dispersion_known.size() > 0) return input.dispersion_known[event];
  const double windows = input.history_windows;
  if (input.history_squares.size() == 0 || windows < 2 || mean <= 0) return 1;
  const double between = input.history.col(event).squaredNorm() / windows;
  const double within = std::max(0.0, input.history_squares[event] - between);
  return within / (static_cast<double>(input.nodes()) * (windows - 1)) / mean;
}

/// Without history the peers give the expectation: their median, with their spread as dispersion.
Expectation expect_from_peers(const SpatialInput& input, Index event) {
  const VectorXd x = input.counts.col(event);
  const double middle = median_of(x);
  const double spread = 1.4826 * median_of((x.array() - middle).abs());
  Expectation result;
  result.rate = VectorXd::Constant(x.size(), middle);
  result.count = result.rate;
  if (middle > 0) result.dispersion = std::max(1.0, spread * spread / middle);
  return result;
}

Expectation expect_from_history(const SpatialInput& input, Index event,
                                const EvidenceOptions& options) {
  const double windows = input.history_windows;
  const VectorXd own = input.history.col(event) / windows;
  const double mean = own.mean();
  Expectation result;
  result.dispersion = std::max(options.dispersion_min, dispersion(input, event, mean));
  double weight = options.shrink_max;
  if (own.size() > 1) {
    const double variance =
        (own.array() - mean).square().sum() / static_cast<double>(own.size() - 1);
    const double roles = variance - result.dispersion * mean / windows;
    if (roles > 0) weight = std::min(weight, result.dispersion * mean / roles);
  }
  result.rate = (weight * mean + input.history.col(event).array()) / (weight + windows);
  const double usual = median_of(result.rate);
  double change = 1;
  if (usual > numbers::spatial().rare_rate) {
    change = (median_of(input.counts.col(event)) + 0.5) / (usual + 0.5);
    change = std::clamp(change, numbers::spatial().change_min, numbers::spatial().change_max);
  }
  result.count = result.rate * change;
  return result;
}

struct Cell {
  double z = 0;
  EvidenceKind kind = EvidenceKind::none;
};

class Gatherer {
 public:
  Gatherer(const SpatialInput& input, const EvidenceOptions& options)
      : input_(input), options_(options) {
    const double cells = static_cast<double>(input.nodes()) *
                         static_cast<double>(std::max<Index>({1, input.events(), input.judged}));
    limit_ =
        std::max(options.count_limit,
                 std::sqrt(2 * std::log(std::max(1.0, numbers::spatial().cells_factor * cells))));
  }

  Evidence run() {
    L4_CHECK(input_.history_windows <= 0 || input_.history.rows() == input_.nodes(),
             "history of {} nodes for {}", input_.history.rows(), input_.nodes());
    const Index nodes = input_.nodes();
    const Index events = input_.events();
    out_.z = Eigen::MatrixXd::Zero(nodes, events + 1);
    out_.kind = KindMatrix::Zero(nodes, events + 1);
    out_.expected = Eigen::MatrixXd::Zero(nodes, events);
    out_.share = VectorXd::Zero(events + 1);
    if (nodes == 0) return std::move(out_);
    for (Index event = 0; event < events; ++event) {
      if (is_fresh(event)) {
        judge_fresh(event);
      } else {
        judge_counts(event);
      }
    }
    judge_silence();
    for (Index column = 0; column <= events; ++column) {
      out_.share[column] = (out_.z.col(column).array() != 0).cast<double>().mean();
    }
    return std::move(out_);
  }

 private:
  bool is_fresh(Index event) const {
    if (flag(input_.fresh, event)) return true;
    const bool ever = input_.history_max.size() > 0 && input_.history_max[event] > 0;
    return input_.history_windows > 0 && !ever && input_.history.col(event).sum() <= 0;
  }

  void set(Index node, Index column, Cell cell) {
    out_.z(node, column) = cell.z;
    out_.kind(node, column) = static_cast<std::uint8_t>(cell.kind);
  }

  /// A new event on most nodes is about the job, so the nodes without it stand out.
  void judge_fresh(Index event) {
    const auto x = input_.counts.col(event).array();
    const bool pool = flag(input_.in_pool, event);
    const bool majority = 2 * (x > 0).count() > x.size();
    for (Index node = 0; node < x.size(); ++node) {
      if (x[node] > 0 && majority) continue;
      if (x[node] > 0 && pool) set(node, event, {1, EvidenceKind::known});
      if (x[node] > 0 && !pool) set(node, event, {2 + std::log(x[node]) / 2, EvidenceKind::fresh});
      if (x[node] <= 0 && majority) set(node, event, {pool ? -1.0 : -2.0, EvidenceKind::absent});
    }
  }

  void judge_counts(Index event) {
    const bool past = input_.history_windows > 0;
    sort_printing(event);
    const Expectation expected =
        past ? expect_from_history(input_, event, options_) : expect_from_peers(input_, event);
    out_.expected.col(event) = expected.count;
    for (Index node = 0; node < input_.nodes(); ++node) {
      const double x = input_.counts(node, event);
      const double change =
          past && expected.rate[node] > 0 ? expected.count[node] / expected.rate[node] : 1;
      if (past && is_usual(node, event, x, change)) continue;
      const bool rare = past && expected.rate[node] < numbers::spatial().rare_rate &&
                        input_.history_max.size() > 0;
      set(node, event,
          rare ? judge_excess(x, input_.history_max[event])
               : judge_residual(x, expected.count[node], expected.dispersion));
    }
  }

  /// Within the range of the node's own windows, as far as the whole job has not changed, or
  /// between that and its peers now: a node that began late comes up to them.
  bool is_usual(Index node, Index event, double x, double change) const {
    if (input_.own_most.size() == 0) return false;
    auto [least, most] = peers_now(node, event);
    most = std::max(most, input_.own_most(node, event) * std::max(1.0, change));
    least = std::min(least, input_.own_least(node, event) * std::min(1.0, change));
    return x <= numbers::spatial().range_beyond * most + 1 &&
           x >= least / numbers::spatial().range_beyond;
  }

  bool prints(Index node, Index event) const {
    return input_.counts(node, event) > 0 || input_.history(node, event) > 0;
  }

  /// Sorts the counts of an event once for all nodes.
  void sort_printing(Index event) {
    printing_.clear();
    if (input_.own_most.size() == 0) return;
    for (Index node = 0; node < input_.nodes(); ++node)
      if (prints(node, event)) printing_.push_back(input_.counts(node, event));
    std::ranges::sort(printing_);
  }

  /// Counts of most of the other nodes that print the event; none where these are too few.
  std::pair<double, double> peers_now(Index node, Index event) const {
    const bool own = prints(node, event);
    const std::size_t peers = printing_.size() - (own ? 1 : 0);
    if (peers < numbers::spatial().peers_now_min)
      return {std::numeric_limits<double>::infinity(), 0};
    const double x = input_.counts(node, event);
    const auto place =
        static_cast<std::size_t>(std::ranges::lower_bound(printing_, x) - printing_.begin());
    const auto without_own = [&](std::size_t at) {
      return printing_[own && at >= place ? at + 1 : at];
    };
    const std::size_t tail = peers / numbers::spatial().peers_tail;
    return {without_own(tail), without_own(peers - 1 - tail)};
  }

  /// Bursts of rare events that history has seen are normal, however unlikely their rate.
  static Cell judge_excess(double x, double largest) {
    if (x <= numbers::spatial().burst_factor * largest + numbers::spatial().burst_beyond) return {};
    return {1 + std::log(x / std::max(1.0, largest)), EvidenceKind::excess};
  }

  Cell judge_residual(double x, double expected, double dispersion) const {
    const double z = 2 * anscombe(expected) * (anscombe(x) - anscombe(expected)) /
                     std::sqrt(dispersion * expected + 0.5);
    if (std::abs(z) < limit_) return {};
    return {std::copysign(1 + std::log(std::abs(z) / limit_), z), EvidenceKind::count};
  }

  void judge_silence() {
    out_.usual_last_ms = median(input_.last_line_ms);
    for (std::size_t i = 0; i < input_.last_line_ms.size(); ++i) {
      const double behind = out_.usual_last_ms - input_.last_line_ms[i];
      if (!(behind > options_.stale_ms)) continue;
      set(static_cast<Index>(i), input_.events(),
          {1 + std::log(behind / options_.stale_ms), EvidenceKind::stale});
    }
  }

  const SpatialInput& input_;
  const EvidenceOptions& options_;
  double limit_ = 0;
  std::vector<double> printing_;  // counts of the event that is judged, ascending
  Evidence out_;
};

}  // namespace

std::string_view name(EvidenceKind kind) {
  switch (kind) {
    case EvidenceKind::none:
      return "none";
    case EvidenceKind::count:
      return "count";
    case EvidenceKind::excess:
      return "excess";
    case EvidenceKind::fresh:
      return "new";
    case EvidenceKind::known:
      return "known";
    case EvidenceKind::absent:
      return "absent";
    case EvidenceKind::stale:
      return "stale";
  }
  return "none";
}

Evidence gather_evidence(const SpatialInput& input, const EvidenceOptions& options) {
  return Gatherer(input, options).run();
}

double anscombe(double count) {
  return std::sqrt(count + 3.0 / 8);
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return job::mean_median(values);
}

}  // namespace l4::detect::spatial
