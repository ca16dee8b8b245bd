// Guesses the category of a failure that no known fault explains, and marks it as a guess.
//
// Flow: after build_faults; the root events' words are compared with those of the fault library
// (faults/likeness.h). Adds one entry with the id kUnknownFault, whose confidence is that of its
// category alone, or no entry if no fault is similar enough. Known echoes do not count as an
// explanation. Pure.
#pragma once

#include "aggregator/diagnose/report.h"
#include "aggregator/faults/library.h"

namespace l4::diagnose {

void place_fault(const faults::Library& library, Report& report);

}  // namespace l4::diagnose
