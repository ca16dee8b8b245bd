// Faults of a library that a test makes.
#pragma once

#include "aggregator/faults/fault.h"

namespace l4::diagnose {

inline faults::Fault fault(const char* id, Level severity, const char* pattern) {
  faults::Fault fault;
  fault.id = id;
  fault.severity = severity;
  fault.patterns = {pattern};
  return fault;
}

/// A line that tells of a stop by `who`.
inline faults::Fault stop(const char* pattern, const char* who) {
  faults::Fault fault = diagnose::fault("stop", Level::error, pattern);
  fault.stopped_by = who;
  return fault;
}

}  // namespace l4::diagnose
