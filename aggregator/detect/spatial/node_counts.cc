#include "aggregator/detect/spatial/node_counts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "aggregator/job/clock.h"
#include "aggregator/job/job_state.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/spatial.h"

namespace l4::detect::spatial {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const vectors::NodeVectors& vectors_of(const job::StreamView& stream) {
  return stream.agent->vectors[stream.state->vectors];
}

/// All windows of one kind, and the counts in them.
struct Life {
  Period period;
  std::uint64_t counts = 0;

  void add(vectors::Span span, std::span<const vectors::Cell> cells) {
    period.first = counts == 0 ? span.first : std::min(period.first, span.first);
    period.end = counts == 0 ? span.end : std::max(period.end, span.end);
    for (const vectors::Cell& cell : cells) counts += cell.count;
  }
};

/// Windows of the kind in which most is counted.
std::optional<Period> whole_life(const job::JobView& view) {
  Life timed, iterated;
  std::set<const vectors::NodeVectors*> seen;
  for (const job::StreamView& stream : view.streams) {
    const vectors::NodeVectors& node = vectors_of(stream);
    if (!seen.insert(&node).second) continue;
    node.by_time.visit([&](auto span, auto cells) { timed.add(span, cells); });
    node.by_iteration.visit([&](auto span, auto cells) { iterated.add(span, cells); });
  }
  Life& life = timed.counts >= iterated.counts ? timed : iterated;
  if (life.counts == 0) return std::nullopt;
  life.period.timed = &life == &timed;
  life.period.first += numbers::spatial().startup_windows;
  return life.period;
}

/// A count of `count` within a window `parts` times as wide as a block: the most that one block is
/// likely to have had.
double likely_most(double count, double parts) {
  const double mean = count / parts;
  return std::min(count, mean + numbers::spatial().block_spread * std::sqrt(mean) + 1);
}

}  // namespace

std::optional<Period> period_of(const job::JobView& view, const job::JobClock& clock) {
  std::optional<Period> period = whole_life(view);
  if (!period) return std::nullopt;
  if (period->timed && clock.first_progress && clock.last_progress) {
    period->first = std::max(period->first, vectors::window_at(*clock.first_progress) + 1);
    period->end = std::min(period->end, vectors::window_at(*clock.last_progress));
  } else if (period->timed && view.end) {
    period->end = std::min(period->end, vectors::window_at(*view.end));
  }
  if (period->length() <= 0) return std::nullopt;
  return period;
}

NodeCounts::NodeCounts(const job::JobView& view, const Period& period)
    : view_(view), period_(period) {
  std::set<std::tuple<const job::AgentSlice*, std::uint32_t>> known;
  for (const job::StreamView& stream : view.streams) {
    if (!known.emplace(stream.agent, stream.state->vectors).second) continue;
    const vectors::NodeVectors& node = vectors_of(stream);
    rows_.push_back({period.timed ? &node.by_time : &node.by_iteration,
                     &view.numbers.at(stream.agent), stream.node});
  }
  std::ranges::stable_sort(rows_, {}, &Row::node);
  find_first_windows();
}

/// Lines without a window come before the first time, or the first iteration, of their log.
void NodeCounts::find_first_windows() {
  constexpr std::int64_t kBefore = std::numeric_limits<std::int64_t>::min();
  first_.assign(view_.events.size(), std::numeric_limits<std::int64_t>::max());
  for (std::size_t event = 0; event < first_.size(); ++event)
    for (const job::Occurrence& at : view_.events[event].at) {
      std::int64_t window = kBefore;
      if (period_.timed) {
        const SlimTime time = at.exact ? at.time : at.stats.first_time;
        if (time) window = vectors::window_at(*time);
      } else if (at.stats.first_iteration) {
        window = at.stats.first_iteration->value();
      }
      first_[event] = std::min(first_[event], window);
    }
}

/// Calls add(node, span, event, count) for every count of every row; of a row in the order of time.
template <class Add>
void NodeCounts::visit(Add add) const {
  for (const Row& row : rows_)
    row.windows->visit([&](vectors::Span span, std::span<const vectors::Cell> cells) {
      for (const vectors::Cell& cell : cells) {
        if (cell.event >= row.numbers->size()) continue;
        const std::uint32_t event = (*row.numbers)[cell.event];
        if (event != job::kNoEvent) add(row.node, span, event, static_cast<double>(cell.count));
      }
    });
}

namespace {

/// The history of one width, filled block by block: a block is one window of that width.
class History {
 public:
  History(Index nodes, Index events, double blocks)
      : total(MatrixXd::Zero(nodes, events)),
        most(MatrixXd::Zero(nodes, events)),
        squares(MatrixXd::Zero(nodes, events)),
        filled(MatrixXd::Zero(nodes, events)),
        open_(MatrixXd::Zero(nodes, events)),
        block_(Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic>::Constant(
            nodes, events, std::numeric_limits<std::int64_t>::min())),
        least_(MatrixXd::Constant(nodes, events, std::numeric_limits<double>::infinity())),
        blocks_(blocks) {}

  /// Blocks of a node and event come in order. `parts`: blocks over which the count is spread.
  void add(Index node, Index event, std::int64_t block, double parts, double count) {
    total(node, event) += count;
    if (parts > 1) {
      close(node, event);
      most(node, event) = std::max(most(node, event), likely_most(count, parts));
      const double mean = count / parts;
      squares(node, event) += parts * mean * mean + std::min(count, parts) * std::min(mean, 1.0);
      filled(node, event) += std::min(parts, count);
      return;
    }
    if (block_(node, event) != block) close(node, event);
    block_(node, event) = block;
    open_(node, event) += count;
  }

  void close() {
    for (Index event = 0; event < total.cols(); ++event)
      for (Index node = 0; node < total.rows(); ++node) close(node, event);
  }

  /// Least count of any block; 0 if some block had none.
  MatrixXd least() const {
    return (filled.array() + 0.5 < blocks_).select(0.0, least_).unaryExpr([](double value) {
      return std::isfinite(value) ? value : 0.0;
    });
  }

  /// Median over the nodes of variance over mean, from block to block.
  VectorXd dispersion() const {
    VectorXd result = VectorXd::Ones(total.cols());
    for (Index event = 0; event < total.cols(); ++event) {
      std::vector<double> ratios;
      for (Index node = 0; node < total.rows(); ++node) {
        const double sum = total(node, event);
        if (sum <= 0) continue;
        const double within = std::max(0.0, squares(node, event) - sum * sum / blocks_);
        ratios.push_back(within / (blocks_ - 1) / (sum / blocks_));
      }
      if (!ratios.empty()) result[event] = median(std::move(ratios));
    }
    return result;
  }

  MatrixXd total, most, squares;
  MatrixXd filled;  // blocks with a count

 private:
  void close(Index node, Index event) {
    const double count = std::exchange(open_(node, event), 0.0);
    block_(node, event) = std::numeric_limits<std::int64_t>::min();
    if (count <= 0) return;
    most(node, event) = std::max(most(node, event), count);
    least_(node, event) = std::min(least_(node, event), count);
    squares(node, event) += count * count;
    filled(node, event) += 1;
  }

  MatrixXd open_;
  Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic> block_;
  MatrixXd least_;
  double blocks_;
};

}  // namespace

const std::vector<std::uint32_t>& NodeCounts::columns() {
  if (!column_of_.empty()) return columns_;
  column_of_.assign(view_.events.size(), -1);
  visit([&](std::uint32_t /*node*/, vectors::Span span, std::uint32_t event, double /*count*/) {
    if (span.end > period_.first && span.first < period_.end) column_of_[event] = 0;
  });
  for (std::uint32_t event = 0; event < column_of_.size(); ++event) {
    if (column_of_[event] < 0) continue;
    column_of_[event] = static_cast<std::int32_t>(columns_.size());
    columns_.push_back(event);
  }
  return columns_;
}

SpatialInput NodeCounts::input(std::int64_t width) {
  const auto nodes = static_cast<Index>(view_.nodes.size());
  const auto events = static_cast<Index>(columns().size());
  SpatialInput input;
  input.judged = static_cast<Index>(view_.events.size());
  input.counts = MatrixXd::Zero(nodes, events);
  const std::int64_t now = period_.end - width;
  const std::int64_t blocks = (now - period_.first) / width;
  input.history_windows = static_cast<double>(blocks);
  History history(nodes, events, input.history_windows);
  VectorXd before = VectorXd::Zero(events);  // seen while the job started
  const std::int64_t from = now - blocks * width;
  std::vector<std::int64_t> begins(view_.nodes.size(), now);
  visit([&](std::uint32_t node, vectors::Span span, std::uint32_t event, double count) {
    if (span.first >= period_.end) return;
    begins[node] = std::min(begins[node], span.first);
    const Index column = column_of_[event];
    if (column < 0) return;
    if (span.first >= now) {
      input.counts(node, column) += count;
    } else if (span.first < from) {
      before[column] = 1;
    } else {
      const double parts =
          std::max(1.0, static_cast<double>(span.end - span.first) / static_cast<double>(width));
      history.add(node, column, (now - 1 - span.first) / width, parts, count);
    }
  });
  history.close();
  input.history_max = history.most.colwise().maxCoeff().transpose().cwiseMax(before);
  if ((input.history_windows - 1) * static_cast<double>(nodes) >= numbers::spatial().blocks_min)
    input.dispersion_known = history.dispersion();
  for (Index node = 0; node < nodes; ++node) {
    const std::int64_t begin = std::max(from, begins[static_cast<std::size_t>(node)] + 1);
    if (begin < now)
      history.total.row(node) *= static_cast<double>(now - from) / static_cast<double>(now - begin);
  }
  input.history = std::move(history.total);
  input.own_least = history.least();
  input.own_most = std::move(history.most);
  return input;
}

namespace {

/// Adds `count`, spread evenly over `span`, to the columns that it reaches.
void spread(vectors::Span span, double count, std::span<const std::int64_t> bounds,
            Eigen::Ref<Eigen::RowVectorXf, 0, Eigen::InnerStride<>> row) {
  const auto after = std::ranges::upper_bound(bounds, span.first);
  auto column = after == bounds.begin() ? std::ptrdiff_t{0} : after - bounds.begin() - 1;
  const auto length = static_cast<double>(span.end - span.first);
  for (; column < row.size(); ++column) {
    const auto at = static_cast<std::size_t>(column);
    const std::int64_t from = std::max(span.first, bounds[at]);
    const std::int64_t to = std::min(span.end, bounds[at + 1]);
    if (bounds[at] >= span.end) break;
    if (to > from)
      row[column] += static_cast<float>(count * static_cast<double>(to - from) / length);
  }
}

}  // namespace

void NodeCounts::columns_of(std::uint32_t node, std::span<const std::int64_t> bounds,
                            NodeColumns& to) const {
  to.events.clear();
  to.begin = std::numeric_limits<std::int64_t>::max();
  const auto columns = static_cast<Index>(bounds.size()) - 1;
  std::vector<Index> slots(view_.events.size(), -1);
  for (const Row& row : std::ranges::equal_range(rows_, node, {}, &Row::node))
    row.windows->visit([&](vectors::Span span, std::span<const vectors::Cell> cells) {
      to.begin = std::min(to.begin, span.first);
      if (span.first >= bounds.back() || span.end <= bounds.front()) return;
      for (const vectors::Cell& cell : cells) {
        if (cell.event >= row.numbers->size()) continue;
        const std::uint32_t event = (*row.numbers)[cell.event];
        if (event == job::kNoEvent) continue;
        Index& slot = slots[event];
        if (slot < 0) {
          slot = static_cast<Index>(to.events.size());
          to.events.push_back(event);
          if (to.counts.rows() <= slot || to.counts.cols() != columns)
            to.counts.conservativeResize(2 * slot + 16, columns);
          to.counts.row(slot).setZero();
        }
        spread(span, static_cast<double>(cell.count), bounds, to.counts.row(slot));
      }
    });
}

SpatialInput NodeCounts::late(std::int64_t from) {
  const auto nodes = static_cast<Index>(view_.nodes.size());
  const auto events = static_cast<Index>(columns().size());
  SpatialInput input;
  input.judged = static_cast<Index>(view_.events.size());
  input.counts = MatrixXd::Zero(nodes, events);
  input.fresh.resize(static_cast<std::size_t>(events));
  if (std::ranges::none_of(first_, [&](std::int64_t first) { return first >= from; })) return input;
  visit([&](std::uint32_t node, vectors::Span span, std::uint32_t event, double count) {
    const Index column = column_of_[event];
    if (column >= 0 && first_[event] >= from && span.first < period_.end)
      input.counts(node, column) += count;
  });
  for (Index event = 0; event < events; ++event)
    input.fresh[static_cast<std::size_t>(event)] = input.counts.col(event).maxCoeff() > 0;
  return input;
}

}  // namespace l4::detect::spatial
