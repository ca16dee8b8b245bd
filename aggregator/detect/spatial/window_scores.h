// How far each node is from its own past and its peers, column by column of a job's life.
//
// Place in the flow: a JobView's rolling vectors -> score_windows() -> aggregator/scores, which
// draws them. Where rolling.h says which nodes differ now, this gives a number for every node and
// time, whether it means anything or not. Pure.
//
// With x the count of event e on node i in column c, the score is
//   E(i, c) = sum over e of |Z| (-ln share),   share = fraction of the nodes with Z(., e, c) != 0
// in nats, as in spatial.h: 0 if nothing is surprising, 2 ln N for one new event of one node.
// Z comes from the same forms as evidence.h, by the counts of earlier columns alone:
// - Peers are all nodes if most print the event, else those that print it. With m their mean count
//   in the column (without i), L = m (K + own count so far) / (K + theirs so far), K = 20 counts:
//   what the node would print if it kept its share. With fewer than kPeersMin peers, or none in
//   the column, L is the node's own mean so far.
// - An event that no node printed before, on a minority of nodes: Z = 2 + ln(x) / 2.
// - L < 2: only more than 1.5 times the largest count so far, and 2 more, is surprising:
//   Z = 1 + ln(x / largest).
// - Else the residual r = 2 a(L) (a(x) - a(L)) / sqrt(phi L + 1/2) with a(x) = sqrt(x + 3/8); it is
//   surprising from q = max(5, sqrt(2 ln(100 cells))) on: Z = +-(1 + ln(|r| / q)). phi: median over
//   the nodes of the mean of (x - L)^2 / (L + 1/2).
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aggregator/detect/spatial/node_counts.h"

namespace l4::detect::spatial {

/// Node x column, nats; NaN where nothing is known of the node yet.
using WindowScores = Eigen::MatrixXf;

/// Bounds as in NodeCounts::columns_of, at least two. The first column has no past: it is compared
/// with peers alone. Cost: three passes over the nodes' counts, and some ns for each column of each
/// event that a node prints (scored_cells() times the columns).
WindowScores score_windows(const job::JobView& view, const NodeCounts& counts,
                           std::span<const std::int64_t> bounds);

/// How the count of an event departs from what is expected.
enum class Departure : std::uint8_t {
  first,  ///< no node printed it before, and few do now
  burst,  ///< a rare one: more often than ever before
  more,   ///< more than expected
  fewer,  ///< fewer than expected
};

/// What one event adds to the score of a node in a column.
struct ScoreTerm {
  std::uint32_t event = 0;  ///< index into JobView::events
  Departure departure = Departure::first;
  bool by_peers = false;  ///< `expected` is of the peers' counts; else of the node's own past
  double count = 0, expected = 0;
  double largest = 0;  ///< the largest count of any node in an earlier column
  /// Count of the middle one of the other nodes that have begun.
  double peers_median = 0;
  std::size_t alike = 1;  ///< nodes that the event surprises of in this column, this one included
  double strength = 0;    ///< |Z|
  double nats = 0;        ///< strength x ln(nodes / alike)
};

/// The terms whose sum score_windows() has at this node and column, the largest first. Costs as
/// much as score_windows(), and a pass more.
std::vector<ScoreTerm> score_terms(const job::JobView& view, const NodeCounts& counts,
                                   std::span<const std::int64_t> bounds, std::uint32_t node,
                                   std::size_t column);

/// Events times nodes that print them, at most.
std::size_t scored_cells(const job::JobView& view);

}  // namespace l4::detect::spatial
