// Which nodes differ from their own past and from their peers while the job runs: the spatial
// comparison over rolling windows.
//
// Place in the flow: JobView (its nodes' rolling vectors) -> one SpatialInput for each width of the
// window -> compare_nodes() -> the nodes that differ, each at the width that shows most. All
// events count, whatever they say. Windows go back from the last progress: 1, 4, 16, ... base
// windows (vectors::kWindow, or iterations in logs without times), up to half of the period,
// against the windows of the same width before them. An event that appears late, anywhere in the
// training, is compared in a further input. Roles come out in two ways: by a node's own past, and
// because a group of nodes that had events of its own from the beginning gets others later (a first
// checkpoint, an evaluation). Pure; deterministic for a seed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aggregator/detect/spatial/spatial.h"
#include "common/base/time.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::spatial {

/// One event that sets a node apart, on a node that is apart.
struct EventDifference {
  std::uint32_t event = 0;  ///< index into JobView::events
  EvidenceKind kind = EvidenceKind::none;
  double count = 0, expected = 0;  ///< in the window
  double term = 0;                 ///< its part of the explanation, nats
  std::uint32_t nodes = 0;         ///< nodes that it sets apart
};

struct NodeDifference {
  std::uint32_t node = 0;               ///< index into JobView::nodes
  double score = 0;                     ///< R of spatial.h
  double explanation = 0;               ///< E, nats
  bool alarm = false;                   ///< E >= 3 ln N
  std::optional<TimeMs> since;          ///< begin of the window, or first time of a new event
  std::vector<EventDifference> events;  ///< largest term first; never empty
};

struct Differences {
  std::vector<NodeDifference> nodes;  ///< highest score first; only nodes that differ
  std::size_t compared = 0;           ///< nodes; 0: too few nodes, or too little past
};

struct RollingOptions {
  std::vector<std::uint8_t> in_pool;  ///< by event: healthy runs print it; empty: not known
  std::uint64_t seed = 1;
};

Differences compare_by_windows(const job::JobView& view, const job::JobClock& clock,
                               const RollingOptions& options);

}  // namespace l4::detect::spatial
