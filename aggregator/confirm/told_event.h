// Which event of an incident tells of its fault, where an engineer names none.
//
// Flow: propose() (confirmation.h) asks; the report and the library in use go in. Pure.
#pragma once

#include <string>
#include <vector>

#include "aggregator/diagnose/report.h"
#include "aggregator/faults/library.h"

namespace l4::confirm {

/// What of an incident a fault may be known by: its events, most telling first, then how its first
/// suspect's process was ended (diagnose/exit_evidence.h).
std::vector<diagnose::IndicatingEvent> telling(const diagnose::Report& report);

/// Names that say where it happened, and not what.
std::vector<std::string> names_of(const diagnose::Report& report,
                                  const diagnose::IndicatingEvent& event);

/// The known fault that the event is told as, or null.
const faults::Fault* known_as(const faults::Library& library,
                              const diagnose::IndicatingEvent& event);

/// Out of `events`, null if each says too little by itself. A consequence does where nothing else
/// is there and it is fatal, of few nodes and blames no peer: a program that aborted itself, say.
const diagnose::IndicatingEvent* most_telling(const diagnose::Report& report,
                                              const std::vector<diagnose::IndicatingEvent>& events,
                                              const faults::Library& library);

}  // namespace l4::confirm
