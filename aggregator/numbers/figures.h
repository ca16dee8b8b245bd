// The numbers that decide in aggregator/detect/figures.
//
// Place in the flow: each is a row of [number.figures] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include <cstdint>

#include "aggregator/numbers/in_force.h"

namespace l4::numbers {

struct Figures {
  /// [values] in a row that are not finite, after finite ones
  std::uint32_t loss_run_min = 2;
  /// [values] and where there was none
  std::uint32_t loss_first_run_min = 8;
  /// [values] longer than a loss scale needs from 2^32 to 2^10
  std::uint32_t gradient_run_min = 24;
  /// [values] on either side of a change of range
  std::uint32_t values_min = 16;
  /// [times] the new range of a loss lies above so many times the old one
  double loss_ratio_min = 2;
  /// [times] the same of a gradient's norm
  double gradient_ratio_min = 10;
  /// [loss scale] one that is not above it is at its floor
  double floor_max = 1;
  /// [times] if it once was so many times greater
  double floor_drop_min = 64;
  /// [values] and for so many
  std::uint32_t floor_run_min = 10;
  /// [loss scale] below this it has no floor, and falls on and on
  double floor_none = 1e-06;
  /// [share] a rate has fallen below this part
  double rate_ratio_max = 0.75;
};

inline const Figures& figures() {
  return in_force<Figures>;
}

}  // namespace l4::numbers
