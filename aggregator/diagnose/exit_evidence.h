// The first suspect's process was ended from outside: the exit as a line that the fault library
// knows.
// Flow: struck() reads the clues of a report, live or stored, for the fault library and for an
// engineer's confirmation. A launcher need not report this exit: it names the process whose end it
// saw first, often a neighbour that lost its peer. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "aggregator/diagnose/report.h"

namespace l4::diagnose {

struct Struck {
  std::int32_t signal = 0;
  IndicatingEvent event;  ///< the clue in the shape of an event: masked text, signal as a value
};
/// The first suspect, if it was struck.
std::optional<Struck> struck(const Report& report);

}  // namespace l4::diagnose
