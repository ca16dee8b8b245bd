// Spatial comparison (the paper, 5.3.1): which node differs from the others, and by what.
//
// Flow: diagnose -> compare_nodes(SpatialInput) -> NodeScore per node, worst first. Pure and
// deterministic for a seed. Isolation Forest over the evidence cells (evidence.h) gives A in [0,
// 1]; E = sum |Z| (-ln share) explains it and names the events; A2 = A min(1, E / (2 ln N)); the
// order in which new evidence or silence appeared gives ob in [0, 1]; R = A2 + ob. A lone new event
// has E = 2 ln N and is information; E >= 3 ln N is an alarm by itself. The caller adds evidence
// from elsewhere: error severity, temporal alarms, a stall. N = 1 has no peer: A, E, ob are 0, the
// contributions are still listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aggregator/detect/spatial/evidence_kind.h"
#include "aggregator/numbers/spatial.h"

namespace l4::detect::spatial {

struct SpatialInput;  // evidence.h

struct Contribution {
  std::ptrdiff_t event = -1;  ///< column of the input; -1 for staleness
  EvidenceKind kind = EvidenceKind::none;
  double z = 0;         ///< signed evidence cell
  double term = 0;      ///< |z| (-ln share), its part of E
  double count = 0;     ///< count in the window; for staleness: seconds behind the median node
  double expected = 0;  ///< the count if nothing were wrong
};

struct NodeScore {
  std::ptrdiff_t node = 0;  ///< row of the input
  double score = 0;         ///< R
  double isolation = 0;     ///< A
  double explanation = 0;   ///< E, in nats
  double order_bonus = 0;   ///< ob
  std::uint32_t order = 0;  ///< place in the burst of new evidence, from 1; 0: not in it
  double first_ms = 0;      ///< its time; meaningless when order is 0
  bool alarm = false;       ///< E >= 3 ln N
  std::vector<Contribution> contributions;  ///< largest term first, then largest |z|
};

struct SpatialResult {
  std::vector<NodeScore> nodes;  ///< every node, highest R first; ties: higher E, then lower index
  bool alarm = false;            ///< any node
  bool ripe = false;             ///< history has at least ten windows; with fewer, hold alarms back
};

/// As in force: aggregator/numbers/spatial.h says what each number means.
struct SpatialOptions {
  EvidenceOptions evidence;
  std::size_t trees = numbers::spatial().trees;
  std::uint64_t seed = 1;
  double isolation_min = numbers::spatial().isolation_min;
  double burst_gap_ms = numbers::spatial().burst_gap_ms;
  double alarm_factor = numbers::spatial().alarm_factor;
  double ripe_windows = numbers::spatial().ripe_windows;
};

SpatialResult compare_nodes(const SpatialInput& input, const SpatialOptions& options = {});

}  // namespace l4::detect::spatial
