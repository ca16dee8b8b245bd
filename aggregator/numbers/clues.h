// The numbers that decide in aggregator/diagnose/clues.
//
// Place in the flow: each is a row of [number.clues] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/numbers/in_force.h"
#include "common/base/time.h"

namespace l4::numbers {

struct Clues {
  /// [nodes] are needed to set one apart
  std::size_t forest_nodes_min = 3;
  /// [ms] a card's errors belong to a stop that follows within this
  Millis nic_errors_before{120'000};
  /// [ms] or that came this long before, while connections break
  Millis nic_errors_after{30'000};
  /// [ms] clocks differ by less: a longer lead is sure
  Millis sure_lead{1000};
  /// [ms] clocks differ by less: who is earlier by less is not first
  Millis order_tie{1000};
  /// [ms] processes that ended within this of the first ended with it
  Millis exit_tie{1000};
  /// [ranks] of which some are silent and most complain
  std::size_t silent_of_min = 3;
  /// [ms] by which the first to fall silent is before the others
  Millis silent_lead_min{200};
  /// [times] the scatter of the others
  std::int64_t silent_lead_times = 3;
  /// [ms] after the last progress from which habits are looked for
  Millis habit_settle{2000};
};

inline const Clues& clues() {
  return in_force<Clues>;
}

}  // namespace l4::numbers
