#include "aggregator/diagnose/findings/causes.h"

#include <algorithm>

#include "aggregator/job/view.h"
#include "aggregator/numbers/verdict.h"

namespace l4::diagnose {

using detect::FailureEvent;
using detect::Severity;

bool is_cause(const Findings& findings, const FailureEvent& failure) {
  const auto& hint = findings.hints.events[failure.event];
  if (is_consequence(failure, hint) || failure.severity < Severity::failure) return false;
  if (hint.known_fault) return true;
  const std::size_t share = failure.severity == Severity::fatal ? numbers::verdict().single_fatal
                                                                : numbers::verdict().single_failure;
  return count_nodes(findings.view, failure) * share <= findings.view.nodes.size();
}

bool has_cause(const Findings& findings) {
  return std::ranges::any_of(findings.failures.events, [&](const FailureEvent& failure) {
    return is_cause(findings, failure);
  });
}

}  // namespace l4::diagnose
