// The numbers that decide in aggregator/detect/spatial.
//
// Place in the flow: each is a row of [number.spatial] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/numbers/in_force.h"

namespace l4::numbers {

struct Spatial {
  /// [per window] below this rate a count is judged by the largest one ever seen
  double rare_rate = 2;
  /// [times] least change of a rate that the whole job shares
  double change_min = 0.02;
  /// [times] largest change of a rate that the whole job shares
  double change_max = 50;
  /// [jobs] the limit of a count lets pass one cell by chance in about so many
  double cells_factor = 100;
  /// [times] a count within so much of what the node or its peers had is usual
  double range_beyond = 1.25;
  /// [nodes] that print an event make its present range
  std::size_t peers_now_min = 3;
  /// [parts] one of so many of the peers may lie outside of it
  std::size_t peers_tail = 10;
  /// [times] a burst of a rare event is normal up to so many times the largest seen
  double burst_factor = 1.5;
  /// [lines] and so many more
  double burst_beyond = 2;
  /// [sigmas] least residual of a count; grows as sqrt(2 ln(100 N d))
  double count_limit = 5;
  /// [windows] kappa: the weight given to the peers, at most
  double shrink_max = 20;
  /// [variance] phi of steadily printed events: window edges still jitter
  double dispersion_min = 0.25;
  /// [ms] a node whose last line is so much older than its peers' is stale
  double stale_ms = 5000;
  /// [trees] of an isolation forest, unless the caller asks for others
  std::size_t forest_trees = 100;
  /// [rows] psi; at most the number of rows is used
  std::size_t forest_subsample = 256;
  /// [windows] in which programs start and say so
  std::int64_t startup_windows = 3;
  /// [sigmas] of a Poisson count that one block is likely to have had
  double block_spread = 4;
  /// [blocks] of all nodes together make a past
  double blocks_min = 20;
  /// [nodes] are needed to compare windows
  std::size_t rolling_nodes_min = 4;
  /// [windows] of the period that is compared
  std::int64_t rolling_length_least = 6;
  /// [variance] phi: counts within their own range are left out anyway
  double rolling_dispersion_min = 0.1;
  /// [times] each width is so many times the one before
  std::int64_t rolling_widen = 4;
  /// [events] printed by the same nodes make a role
  std::size_t role_events = 2;
  /// [windows] at the end of the period in which new events are late ones
  std::int64_t rolling_edge = 2;
  /// [parts] a new event of more than one of so many nodes is usual
  std::size_t rolling_share = 10;
  /// [share] of the nodes that may differ
  double rolling_share_max = 0.35;
  /// [nats] a count that is barely beyond the limit may be chance at one of several widths
  double rolling_beyond = 1.15;
  /// [windows] after the start from which a new event is late
  std::int64_t late_least = 4;
  /// [parts] of the period: the first one is no time for late events
  std::int64_t late_part = 8;
  /// [lines] of a new event on one node: it recurs
  double late_recurs = 3;
  /// [weight] of a column in the forest, however common its event
  double column_weight_min = 0.05;
  /// [trees] of the forest that compares nodes
  std::size_t trees = 100;
  /// [score] smaller spreads of the forest's score are its own noise
  double isolation_min = 0.02;
  /// [ms] a longer pause ends a burst
  double burst_gap_ms = 60'000;
  /// [ln N] alarm at an explanation of so many times ln N
  double alarm_factor = 3;
  /// [windows] of a past that tells enough
  double ripe_windows = 10;
  /// [counts] K: of the past in the expectation
  double score_weight = 20;
  /// [per window] as rare_rate, of the live scores
  double score_rare_rate = 2;
  /// [sigmas] as count_limit, of the live scores
  double score_limit = 5;
  /// [variance] as dispersion_min, of the live scores
  double score_dispersion_least = 0.25;
  /// [nodes] that print an event make an expectation
  std::size_t score_peers_min = 4;
};

inline const Spatial& spatial() {
  return in_force<Spatial>;
}

}  // namespace l4::numbers
