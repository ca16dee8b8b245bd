// How strong a line of the failure is as evidence, whomever it is held against.
//
// Private to this room: failures.cc and accusations.cc share it.
#pragma once

#include "aggregator/diagnose/clues/sources.h"

namespace l4::diagnose::clues {

/// From its severity, and whether a known, specific fault explains it.
double strength_of(const Scene& scene, const detect::FailureEvent& failure);

}  // namespace l4::diagnose::clues
