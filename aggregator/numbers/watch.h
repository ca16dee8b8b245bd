// The numbers that decide in aggregator/watch.
//
// Place in the flow: each is a row of [number.watch] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/numbers/in_force.h"
#include "common/base/time.h"

namespace l4::numbers {

struct Watch {
  /// [batches] a node must have sent while iterations went on before its silence means
  /// anything
  std::uint32_t gaps_min = 20;
  /// [ms] after a trigger until what belongs to it has arrived
  Millis settle{2000};
  /// [ms] a failure line is confirmed if no progress follows for two iterations, and this
  /// long
  Millis recheck_min{3000};
  /// [ms] the same, at most so long
  Millis recheck_max{30'000};
  /// [ms] lines may arrive so late
  Millis late{200};
  /// [iterations] after which a slow job is looked at again
  std::uint64_t slow_ticks = 50;
  /// [iterations] that show that the job goes on: last lines of other agents arrive late
  std::uint64_t goes_on_ticks = 2;
  /// [ms] after reconnecting in which an agent may still deliver old lines
  Millis last_words{5000};
  /// [parts] of the floor of a suspicion: silent nodes are looked for once in one
  std::int64_t check_part = 8;
  /// [times] the largest gap of a node is ordinary
  std::int64_t agent_gaps = 3;
  /// [ms] no silence shorter than this is suspected
  Millis suspect_floor{60'000};
  /// [ms] a shorter silence is confirmed only by other evidence
  Millis confirm_floor{300'000};
  /// [ms] a process that waits for a device for longer is a trigger
  Millis device_wait{30'000};
  /// [ms] re-arms a cause whose diagnosis never came
  Millis rearm{60'000};
  /// [times] iterations take so many times as long in a slow phase
  double pace_ratio = 1.3;
  /// [times] and less when it is over
  double pace_over = 1.15;
  /// [times] a long iteration takes so many times as long as usual
  double pace_long = 1.4;
  /// [iterations] before the recent ones that a pace needs
  std::size_t pace_before = 10;
  /// [iterations] the newest, whose pace is compared with the one before
  std::size_t pace_recent = 6;
  /// [iterations] the newest among which long ones are counted
  std::uint64_t pace_newest = 16;
  /// [iterations] of the newest that are long: the job stutters
  int pace_many = 6;
  /// [iterations] of the newest that are long: it no longer does
  int pace_few = 2;
  /// [share] by which the long ones are more than before
  double pace_rise = 0.3;
  /// [ms] a shorter slow phase may be over when it is reported
  double pace_lasting_ms = 8000;
  /// [iterations] over which the part of long ones is averaged
  double pace_memory = 128;
  /// [pauses] from which the kind's own history is used
  std::size_t pause_known = 5;
  /// [times] as stall held_ratio_min
  double pause_long_ratio = 4;
  /// [share] of the kept ones: long pauses are rare
  double pause_long_share = 0.05;
  /// [ms] as stall held_excess_min_ms
  Millis pause_long_over{1000};
  /// [pauses] that must be known
  std::size_t pause_long_known = 12;
  /// [times] the longest pause of the job, for a kind that is not known
  std::int64_t unknown_pauses = 3;
  /// [times] the floor, for the first pause of a kind
  std::int64_t first_floors = 4;
  /// [times] the longest pause of the kind is the most that its scatter makes of it
  double scatter_pauses = 3;
  /// [sigmas] of the kind's logarithms, for its deadline
  double pause_sigmas = 6;
  /// [ln] least scatter
  double pause_sigma_min = 0.1;
  /// [share] a pause with this part of the length is as long
  double pause_alike = 0.5;
  /// [ms] after which a process that is no more seen is gone
  Millis process_unseen{2000};
  /// [ms] after an end with exit code 0 until it is a trigger
  Millis left_well{60'000};
  /// [ms] for which a process is stopped before it is a trigger
  Millis process_stopped{3000};
  /// [ms] the same under a debugger
  Millis process_traced{30'000};
  /// [ms] after the last process has left
  Millis all_left{1000};
  /// [ms] an agent's clock is trusted so far
  Millis trust{2000};
  /// [ms] a stage may seem to begin so much before the iteration that precedes it: clocks
  /// differ
  Millis clocks_apart{500};
  /// [ms] lines closer together are one burst
  Millis burst_within{1000};
  /// [lines] below a number that show that it was a stray one
  std::uint64_t stray_min = 64;
  /// [lines] more of these for each stream
  std::uint64_t stray_per_stream = 4;
  /// [iterations] after a telling line that show that it was noise
  std::uint64_t noise_ticks = 2;
  /// [ms] without it, after which a line that was noise tells again
  Millis noise_quiet{60'000};
};

inline const Watch& watch() {
  return in_force<Watch>;
}

}  // namespace l4::numbers
