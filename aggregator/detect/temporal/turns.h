// Lines that a rank prints the other way round from some iteration on, while its peers keep the
// order.
//
// Place in the flow: sequences of a JobView's streams in, Turns out; suspects and the report read
// them. Pure. Of each pair of lines that a rank prints in the same iterations, the order is
// compared with what it was before and with the order of all other ranks: lines that race change
// places all the time, and what turns round on most ranks is another phase of the job. Bounds:
// kEventsMax lines of a stream, its newest kRowsMax iterations, kPairsMax pairs that turned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aggregator/numbers/temporal.h"
#include "common/base/ids.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::temporal {

inline constexpr std::size_t kEventsMax = 24, kRowsMax = 512, kPairsMax = 64;

struct Turn {
  std::uint32_t stream = 0;              ///< index into JobView::streams
  std::uint32_t earlier = 0, later = 0;  ///< events, in the order before
  Iteration iteration{0};                ///< the first in the new order
  std::uint64_t before = 0, after = 0;   ///< iterations in either order
};

/// As in force: aggregator/numbers/temporal.h says what each number means.
struct TurnOptions {
  std::size_t before_min = numbers::temporal().turn_before_min,
              after_min = numbers::temporal().turn_after_min;
  std::size_t rows_min = numbers::temporal().turn_rows_min;
  double off_max = numbers::temporal().turn_off_max;
  double changing_max = numbers::temporal().turn_changing_max;
  std::size_t peers_min = numbers::temporal().turn_peers_min,
              peers_rows_min = numbers::temporal().turn_peers_rows_min;
};

/// One for each stream, most iterations first.
std::vector<Turn> find_turns(const job::JobView& view, const TurnOptions& options = {});

}  // namespace l4::detect::temporal
