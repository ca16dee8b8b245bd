// What kind of fault it was where no known one explains the failure: a guess, said as one.
//
// Flow: after build_faults; the root events' words are compared with those of the fault library
// (faults/likeness.h). Adds one entry with the id kUnknownFault, whose confidence is that of its
// category alone, or nothing if nothing is like enough. Echoes that are known explain nothing.
// Pure.
#pragma once

#include "aggregator/diagnose/report.h"
#include "aggregator/faults/library.h"

namespace l4::diagnose {

void place_fault(const faults::Library& library, Report& report);

}  // namespace l4::diagnose
