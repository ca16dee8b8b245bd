// Chooses the event of an incident that shows its fault, if the engineer names none.
//
// Flow: propose() (confirmation.h) asks; the report and the library in use go in. Pure.
#pragma once

#include <string>
#include <vector>

#include "aggregator/diagnose/report.h"
#include "aggregator/faults/library.h"

namespace l4::confirm {

/// The parts of an incident by which a fault may be recognised: its events, most telling first,
/// then the exit of its first suspect's process (diagnose/exit_evidence.h).
std::vector<diagnose::IndicatingEvent> telling(const diagnose::Report& report);

/// Names that say where the event happened, and not what happened.
std::vector<std::string> names_of(const diagnose::Report& report,
                                  const diagnose::IndicatingEvent& event);

/// The known fault that the event is reported as, or null.
const faults::Fault* known_as(const faults::Library& library,
                              const diagnose::IndicatingEvent& event);

/// The event that says most, or null if each says too little by itself. A consequence is chosen
/// only if nothing else is left, and if it is fatal, on few nodes and blames no peer (for example a
/// program that aborted itself).
const diagnose::IndicatingEvent* most_telling(const diagnose::Report& report,
                                              const std::vector<diagnose::IndicatingEvent>& events,
                                              const faults::Library& library);

}  // namespace l4::confirm
