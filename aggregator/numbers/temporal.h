// The numbers that decide in aggregator/detect/temporal.
//
// Place in the flow: each is a row of [number.temporal] in config/scoring.toml, which has its
// bounds and where it is from; a site may put others in force (table.h). Read by all threads,
// written by none. In brackets stands the unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/numbers/in_force.h"

namespace l4::numbers {

struct Temporal {
  /// [iterations] in a row that make an event part of the pattern
  std::uint8_t steady = 10;
  /// [iterations] in a row after which an absence is a miss
  std::uint8_t habit = 3;
  /// [iterations] that make an event part of the stream's role
  std::uint8_t role = 2;
  /// [nats] price of an expected event at an unexpected place
  double odd_place = 1;
  /// [iterations] of a pattern whose durations are kept: enough for a median, quick to adapt
  std::size_t durations = 50;
  /// [sequences] recent ones of the coarse comparison
  std::size_t coarse_recent = 4;
  /// [sequences] prototypes of the coarse comparison
  std::size_t coarse_prototypes = 8;
  /// [sequences] peers of the coarse comparison
  std::size_t coarse_peers = 4;
  /// [events] of a sequence of the coarse comparison
  std::size_t coarse_length_max = 64;
  /// [iterations] are compared in any case
  std::size_t rounds_min = 16;
  /// [nats] cheaper differences explain nothing
  double shown_min = 0.5;
  /// [nats] up to here nothing counts as missing
  double intact_max = 1.5;
  /// [sigmas] above its mean from which a score is odd
  double sigmas = 3;
  /// [iterations] from which a stream is scored
  std::size_t history_min = 10;
  /// [sequences] of the stream itself that are compared
  std::size_t recent = 10;
  /// [sequences] prototypes of a stream
  std::size_t prototypes = 32;
  /// [sequences] prototypes of the job
  std::size_t shared = 512;
  /// [sequences] of these that are compared
  std::size_t shared_compared = 64;
  /// [sequences] of peers that are compared
  std::size_t peers = 8;
  /// [scores] of a stream that are kept
  std::size_t score_window = 200;
  /// [nats] least scatter of scores
  double sigma_min = 1.7;
  /// [iterations] K: about one false alarm in so many where scores are random
  double horizon = 100;
  /// [nats] ln 1000: a change that most streams share is one of the program
  double phase_change = 6.9;
  /// [sigmas] by which a slow iteration stands out
  double slow_limit = 6;
  /// [ln] least scatter of durations
  double slow_spread_min = 0.02;
  /// [s] what takes less longer than usual is no distance
  double slow_excess_min = 1;
  /// [iterations] with durations from which they are compared
  std::size_t slow_history_min = 5;
  /// [events] longer sequences keep their first and last halves
  std::size_t length_max = 512;
  /// [iterations] with both lines before they turn
  std::size_t turn_before_min = 3;
  /// [iterations] with both lines since
  std::size_t turn_after_min = 3;
  /// [iterations] and together
  std::size_t turn_rows_min = 7;
  /// [share] of them in the other order, on either side
  double turn_off_max = 0.05;
  /// [share] of the peers that change it, too
  double turn_changing_max = 0.02;
  /// [streams] peers needed
  std::size_t turn_peers_min = 2;
  /// [iterations] of the peers needed
  std::size_t turn_peers_rows_min = 20;
};

inline const Temporal& temporal() {
  return in_force<Temporal>;
}

}  // namespace l4::numbers
