// Evidence cells: how surprising each event's count is on each node (the paper, 5.3.1, scores raw
// counts; those single out rank 0 and drown a rare event among noisy ones).
//
// Flow: aggregator/diagnose fills a SpatialInput from the job's state; gather_evidence() compares
// every node with its own past, shrunk towards its peers, and returns Z, which spatial.cc scores.
// Pure. Matrices are N nodes x d events; times are skew-corrected milliseconds, NaN = unknown.
// Counts must be finite and >= 0. Optional parts may be left empty, as said at each.
// Z has d + 1 columns: the last one holds staleness. Z is 0 where nothing is surprising.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "aggregator/detect/spatial/evidence_kind.h"

namespace l4::detect::spatial {

/// One byte per node and event, column-major like the counts.
using KindMatrix = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic>;

struct SpatialInput {
  Eigen::MatrixXd counts;       ///< x: N x d, occurrences in the window; N x 0 is fine
  double history_windows = 0;   ///< B: healthy earlier windows of this job, of equal length
  Eigen::MatrixXd history;      ///< h: N x d, totals over the B windows; empty if B = 0
  Eigen::VectorXd history_max;  ///< M: d, largest count in any one node and window; empty: unknown
  /// Sum over nodes and windows of the squared count, per event (d); gives the dispersion phi.
  Eigen::VectorXd history_squares;  ///< empty: phi = 1
  /// d: phi, if it is known otherwise than by history_squares; empty: unknown.
  Eigen::VectorXd dispersion_known;
  /// N x d: largest and least count of the node itself in any window of history; a count within
  /// that range is normal for the node. Empty: unknown.
  Eigen::MatrixXd own_most, own_least;
  std::vector<std::uint8_t> fresh;    ///< d: not in this job's history (also if h and M are 0)
  std::vector<std::uint8_t> in_pool;  ///< d: normal in earlier healthy jobs; empty: none
  Eigen::MatrixXd first_ms;           ///< N x d: first occurrence in the window; empty: unknown
  /// Events that were judged, with those that have no column because nothing was counted; 0: d.
  Eigen::Index judged = 0;
  std::vector<double> last_line_ms;  ///< N: last line of any kind; empty: unknown

  Eigen::Index nodes() const { return counts.rows(); }
  Eigen::Index events() const { return counts.cols(); }
};

struct Evidence {
  Eigen::MatrixXd z;         ///< N x (d + 1)
  KindMatrix kind;           ///< N x (d + 1) of EvidenceKind
  Eigen::MatrixXd expected;  ///< N x d: L, the count expected in the window
  Eigen::VectorXd share;     ///< d + 1: fraction of nodes with z != 0
  double usual_last_ms = 0;  ///< median of the nodes' last lines; NaN: unknown

  EvidenceKind kind_at(Eigen::Index node, Eigen::Index column) const {
    return static_cast<EvidenceKind>(kind(node, column));
  }
};

/// Z and what explains it. Undefined if the optional parts have other shapes than stated.
Evidence gather_evidence(const SpatialInput& input, const EvidenceOptions& options = {});

/// sqrt(x + 3/8): makes the variance of a Poisson count 1/4 (Anscombe 1948).
double anscombe(double count);

/// Median of the finite values; NaN if there is none.
double median(std::vector<double> values);

}  // namespace l4::detect::spatial
