#include "aggregator/detect/spatial/window_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "aggregator/detect/spatial/evidence.h"
#include "aggregator/job/median.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/spatial.h"
#include "common/base/check.h"

namespace l4::detect::spatial {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A surprising cell of one node.
struct ScoredCell {
  std::uint32_t event = 0;
  std::uint32_t node = 0;
  std::uint32_t column = 0;
  float z = 0;  // > 0
};

class Scorer {
 public:
  Scorer(const job::JobView& view, const NodeCounts& counts, std::span<const std::int64_t> bounds)
      : counts_(counts),
        bounds_(bounds),
        nodes_(view.nodes.size()),
        columns_(static_cast<Index>(bounds.size()) - 1),
        sums_(MatrixXd::Zero(static_cast<Index>(view.events.size()), columns_)),
        largest_(MatrixXd::Zero(static_cast<Index>(view.events.size()), columns_)),
        printers_(view.events.size(), 0),
        begun_(VectorXd::Zero(columns_)),
        firsts_(nodes_, 0),
        dispersion_(view.events.size(), 1) {
    const double cells =
        static_cast<double>(scored_cells(view)) * static_cast<double>(columns_) + 1;
    limit_ = std::max(numbers::spatial().score_limit,
                      std::sqrt(2 * std::log(numbers::spatial().cells_factor * cells)));
  }

  WindowScores run() {
    WindowScores scores = WindowScores::Constant(static_cast<Index>(nodes_), columns_,
                                                 std::numeric_limits<float>::quiet_NaN());
    if (nodes_ < 2) return scores;
    std::vector<ScoredCell> cells = judge_all();
    for (std::uint32_t node = 0; node < nodes_; ++node)
      scores.row(node).tail(columns_ - firsts_[node]).setZero();
    add(cells, scores);
    return scores;
  }

  std::vector<ScoreTerm> terms_of(std::uint32_t node, Index column) {
    std::vector<ScoreTerm> terms;
    if (nodes_ < 2) return terms;
    std::vector<ScoredCell> cells = judge_all();
    std::erase_if(cells, [&](const ScoredCell& cell) { return cell.column != column; });
    for (const ScoredCell& cell : cells) {
      if (cell.node != node) continue;
      const auto alike = std::ranges::count(cells, cell.event, &ScoredCell::event);
      terms.push_back({.event = cell.event,
                       .alike = static_cast<std::size_t>(alike),
                       .strength = static_cast<double>(cell.z),
                       .nats = static_cast<double>(cell.z) * rarity_of(alike)});
    }
    std::ranges::sort(terms, [](const ScoreTerm& a, const ScoreTerm& b) {
      return a.nats != b.nats ? a.nats > b.nats : a.event < b.event;
    });
    describe(terms, node, column);
    return terms;
  }

 private:
  template <class Visit>
  void for_each_node(Visit visit) {
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      counts_.columns_of(node, bounds_, own_);
      visit(node, own_);
    }
  }

  /// The column in which the node begins.
  Index first_of(const NodeColumns& own) const {
    const auto after = std::ranges::upper_bound(bounds_, own.begin);
    return after == bounds_.begin() ? 0 : after - bounds_.begin() - 1;
  }

  std::vector<ScoredCell> judge_all() {
    gather();
    measure_dispersion();
    std::vector<ScoredCell> cells;
    for_each_node([&](std::uint32_t node, const NodeColumns& own) { judge(node, own, cells); });
    return cells;
  }

  void gather() {
    for_each_node([&](std::uint32_t node, const NodeColumns& own) {
      firsts_[node] = first_of(own);
      for (Index column = firsts_[node]; column < columns_; ++column) ++begun_[column];
      for (std::size_t slot = 0; slot < own.events.size(); ++slot) {
        const auto event = static_cast<Index>(own.events[slot]);
        const auto row = own.counts.row(static_cast<Index>(slot)).cast<double>();
        ++printers_[own.events[slot]];
        sums_.row(event) += row;
        largest_.row(event) = largest_.row(event).cwiseMax(row);
      }
    });
    for (Index column = 1; column < columns_; ++column)  // up to and with the column
      largest_.col(column) = largest_.col(column).cwiseMax(largest_.col(column - 1));
  }

  bool is_common(std::uint32_t event) const { return 2 * printers_[event] > nodes_; }

  double peers(std::uint32_t event, Index column) const {
    const double most = is_common(event) ? begun_[column] : static_cast<double>(printers_[event]);
    return std::min(most, begun_[column]) - 1;
  }

  static bool has_peers(double others, double theirs) {
    return others + 1 >= static_cast<double>(numbers::spatial().score_peers_min) && theirs > 0;
  }

  /// Calls visit(column, x, L, whether the node or its peers have a past) for one event of a node,
  /// column by column; x may be null for a node without the event.
  template <class Visit>
  void expect(std::uint32_t event, const NodeColumns& own, Index slot, Visit visit) const {
    double own_sum = 0, their_sum = 0, length = 0;
    for (Index column = first_of(own); column < columns_; ++column) {
      const double x = slot < 0 ? 0 : static_cast<double>(own.counts(slot, column));
      const double others = peers(event, column);
      const double theirs = sums_(event, column) - x;
      const auto at = static_cast<std::size_t>(column);
      const auto wide = static_cast<double>(bounds_[at + 1] - bounds_[at]);
      const bool compared = has_peers(others, theirs);
      const double mean = compared ? theirs / others : 0;
      const double expected = compared ? mean * (numbers::spatial().score_weight + own_sum) /
                                             (numbers::spatial().score_weight + their_sum)
                              : length > 0 ? own_sum / length * wide
                                           : 0;
      visit(column, x, expected, compared || length > 0);
      own_sum += x;
      their_sum += mean;
      length += wide;
    }
  }

  void measure_dispersion() {
    std::vector<std::vector<float>> found(printers_.size());
    for_each_node([&](std::uint32_t, const NodeColumns& own) {
      for (std::size_t slot = 0; slot < own.events.size(); ++slot) {
        const std::uint32_t event = own.events[slot];
        double sum = 0, columns = 0;
        expect(event, own, static_cast<Index>(slot),
               [&](Index, double x, double expected, bool compared) {
                 if (!compared) return;
                 sum += (x - expected) * (x - expected) / (expected + 0.5);
                 ++columns;
               });
        if (columns > 1) found[event].push_back(static_cast<float>(sum / columns));
      }
    });
    for (std::size_t event = 0; event < found.size(); ++event)
      if (!found[event].empty())
        dispersion_[event] = std::max(numbers::spatial().score_dispersion_least,
                                      static_cast<double>(job::lower_median(found[event])));
  }

  void judge(std::uint32_t node, const NodeColumns& own, std::vector<ScoredCell>& cells) {
    const auto judge_event = [&](std::uint32_t event, Index slot) {
      expect(event, own, slot, [&](Index column, double x, double expected, bool compared) {
        const double z = judge_cell(event, column, x, expected, compared);
        if (z > 0)
          cells.push_back({event, node, static_cast<std::uint32_t>(column), static_cast<float>(z)});
      });
    };
    is_own_.assign(printers_.size(), 0);
    for (std::size_t slot = 0; slot < own.events.size(); ++slot) {
      is_own_[own.events[slot]] = 1;
      judge_event(own.events[slot], static_cast<Index>(slot));
    }
    for (std::uint32_t event = 0; event < printers_.size(); ++event)
      if (is_own_[event] == 0 && is_common(event)) judge_event(event, -1);
  }

  /// No node printed it before the column, and it is no event of most nodes.
  bool is_first(std::uint32_t event, Index column) const {
    return column > 0 &&
           counts_.first_windows()[event] >= bounds_[static_cast<std::size_t>(column)] &&
           !is_common(event);
  }

  /// |Z|
  double judge_cell(std::uint32_t event, Index column, double x, double expected,
                    bool compared) const {
    const double before = column > 0 ? largest_(event, column - 1) : 0;
    const std::int64_t first = counts_.first_windows()[event];
    const auto at = static_cast<std::size_t>(column);
    if (first >= bounds_[at + 1]) return 0;  // spread over a joined window, printed later
    if (is_first(event, column)) return x > 0 ? 2 + std::max(0.0, std::log(x) / 2) : 0;
    if (!compared) return 0;
    if (expected < numbers::spatial().score_rare_rate) {
      if (column == 0 ||
          x <= numbers::spatial().burst_factor * before + numbers::spatial().burst_beyond)
        return 0;
      return 1 + std::log(x / std::max(1.0, before));
    }
    const double variance = dispersion_[event] * expected + 0.5;
    const double difference = x - expected;  // half of it, and less, is in the residual
    if (4 * difference * difference < limit_ * limit_ * variance) return 0;
    const double residual =
        2 * anscombe(expected) * (anscombe(x) - anscombe(expected)) / std::sqrt(variance);
    if (std::abs(residual) < limit_) return 0;
    return 1 + std::log(std::abs(residual) / limit_);
  }

  void add(std::vector<ScoredCell>& cells, WindowScores& scores) const {
    const auto place = [](const ScoredCell& cell) { return std::pair(cell.event, cell.column); };
    std::ranges::sort(cells, {}, place);
    for (auto from = cells.begin(); from != cells.end();) {
      const auto to = std::find_if(
          from, cells.end(), [&](const ScoredCell& one) { return place(one) != place(*from); });
      const double rarity = rarity_of(to - from);
      for (; from != to; ++from)
        scores(from->node, from->column) += static_cast<float>(from->z * rarity);
    }
  }

  /// -ln of the share of nodes.
  double rarity_of(std::ptrdiff_t alike) const {
    return std::log(static_cast<double>(nodes_) / static_cast<double>(alike));
  }

  static Index slot_of(const NodeColumns& own, std::uint32_t event) {
    const auto found = std::ranges::find(own.events, event);
    return found == own.events.end() ? -1 : found - own.events.begin();
  }

  void describe(std::vector<ScoreTerm>& terms, std::uint32_t node, Index column) {
    std::vector<std::vector<float>> others(terms.size());
    for_each_node([&](std::uint32_t one, const NodeColumns& own) {
      if (firsts_[one] > column) return;
      for (std::size_t i = 0; i < terms.size(); ++i) {
        const Index slot = slot_of(own, terms[i].event);
        if (one == node)
          describe(terms[i], own, slot, column);
        else
          others[i].push_back(slot < 0 ? 0.0F : own.counts(slot, column));
      }
    });
    for (std::size_t i = 0; i < terms.size(); ++i)
      if (!others[i].empty())
        terms[i].peers_median = static_cast<double>(job::lower_median(others[i]));
  }

  void describe(ScoreTerm& term, const NodeColumns& own, Index slot, Index column) const {
    expect(term.event, own, slot, [&](Index at, double x, double expected, bool) {
      if (at != column) return;
      term.count = x;
      term.expected = expected;
      term.by_peers = has_peers(peers(term.event, at), sums_(term.event, at) - x);
    });
    term.largest = column > 0 ? largest_(term.event, column - 1) : 0;
    if (is_first(term.event, column))
      term.departure = Departure::first;
    else if (term.expected < numbers::spatial().score_rare_rate)
      term.departure = Departure::burst;
    else
      term.departure = term.count > term.expected ? Departure::more : Departure::fewer;
  }

  const NodeCounts& counts_;
  std::span<const std::int64_t> bounds_;
  std::size_t nodes_;
  Index columns_;
  MatrixXd sums_, largest_;              // event x column
  std::vector<std::uint32_t> printers_;  // nodes, by event
  VectorXd begun_;                       // nodes, by column
  std::vector<Index> firsts_;            // column in which the node begins
  std::vector<double> dispersion_;       // phi
  double limit_ = numbers::spatial().score_limit;
  NodeColumns own_;
  std::vector<std::uint8_t> is_own_;  // scratch
};

}  // namespace

std::size_t scored_cells(const job::JobView& view) {
  std::size_t cells = 0;
  for (const job::EventView& event : view.events) {
    const std::size_t printing = std::min(event.at.size(), view.nodes.size());
    cells += 2 * printing > view.nodes.size() ? view.nodes.size() : printing;
  }
  return cells;
}

WindowScores score_windows(const job::JobView& view, const NodeCounts& counts,
                           std::span<const std::int64_t> bounds) {
  L4_CHECK(bounds.size() >= 2, "{} bounds of columns", bounds.size());
  return Scorer(view, counts, bounds).run();
}

std::vector<ScoreTerm> score_terms(const job::JobView& view, const NodeCounts& counts,
                                   std::span<const std::int64_t> bounds, std::uint32_t node,
                                   std::size_t column) {
  L4_CHECK(column + 1 < bounds.size(), "column {} of {} bounds", column, bounds.size());
  return Scorer(view, counts, bounds).terms_of(node, static_cast<Index>(column));
}

}  // namespace l4::detect::spatial
