// What took longer or came later than usual, and which rank held the others up.
//
// Place in the flow: the detectors of this room give Delays; suspects and the report read them.
// Plain values. A delay without a rank concerns all ranks alike, or nobody knows whose it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/ids.h"

namespace l4::detect::delay {

enum class DelayKind : std::uint8_t {
  stall,       ///< single iterations took far longer than usual
  slow_phase,  ///< a phase of a rank takes longer for good
  late_start,  ///< a rank began long after its peers
};

struct Delay {
  DelayKind kind = DelayKind::stall;
  std::optional<std::uint32_t> rank;  ///< index into JobView::ranks: it held the others up
  std::string phase;                  ///< name of a timer; empty: not known
  std::optional<Iteration>
      iteration;                ///< of a stall the longest, of a slow phase the first slow one
  double ms = 0, usual_ms = 0;  ///< iteration, phase or lateness; and what is usual
  double phase_ms = 0, phase_usual_ms = 0;  ///< of the phase in a stall
  std::uint64_t count = 1;                  ///< iterations
};

}  // namespace l4::detect::delay
