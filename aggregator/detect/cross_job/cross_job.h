// Cross-job filtering (the paper, 5.2): events that healthy jobs of the same kind print are normal.
//
// Flow: diagnose counts the pool's runs and this job, filter_events() says which events to drop
// before nodes and iterations are compared. Pure; no clock, no store. Two rules:
// paper: dropped if the event occurs in at least half of the pool's runs.
// l4: dropped if any run of the pool knows it, unless some node prints far more of it here than the
// pool ever saw: x against e = max(largest rate * exposure, largest count), Poisson, with
// excess = 2 (sqrt(x + 3/8) - sqrt(e + 3/8)) in standard deviations (Anscombe 1948).
// An empty pool drops nothing. Exposure is a node's thousands of lines, or iterations: the
// caller chooses one unit for the pool and here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregator/numbers/cross_job.h"

namespace l4::detect::cross_job {

/// One event on one node of this job.
struct EventUse {
  double count = 0;
  double exposure = 0;  ///< >= 0, same unit as the pool's rates
};

/// The pool's counts of one event. A node-run is one node in one run.
struct PoolEvent {
  std::uint32_t runs_with = 0;  ///< runs in which it occurs
  double rate_max = 0;          ///< largest count per exposure on one node in one run
  double count_max = 0;         ///< largest count on one node in one run
};

struct EventHere {
  PoolEvent pool;
  std::vector<EventUse> nodes;  ///< nodes that print it; the others may be left out
};

enum class Rule : std::uint8_t { l4, paper };

/// As in force: aggregator/numbers/cross_job.h says what each number means.
struct FilterOptions {
  Rule rule = Rule::l4;
  double excess_min = numbers::cross_job().excess_min;
  double ratio_min = numbers::cross_job().ratio_min;
};

struct EventVerdict {
  bool known = false;  ///< at least one run of the pool has it
  bool dropped = false;
  double excess = 0;  ///< largest over the nodes; 0 for unknown events
};

/// One verdict per event, in order. `pool_runs`: runs in the pool, 0 for none.
std::vector<EventVerdict> filter_events(std::span<const EventHere> events, std::uint32_t pool_runs,
                                        const FilterOptions& options = {});

}  // namespace l4::detect::cross_job
