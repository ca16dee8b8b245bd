// Failures that nothing else explains.
//
// Place in the flow: findings in; the verdict and its grounds ask. Pure.
#pragma once

#include "aggregator/diagnose/findings/findings.h"

namespace l4::diagnose {

/// A known cause, or a fatal line that only few nodes have.
bool is_cause(const Findings& findings, const detect::FailureEvent& failure);

/// Some line tells of a cause.
bool has_cause(const Findings& findings);

}  // namespace l4::diagnose
