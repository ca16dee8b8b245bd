// Which events of a failure only report what a more precise one says.
//
// Place in the flow: the last step of failure_events. A signal's number, an exit code or a wrapper
// ("call of the driver failed") is the best that is known while it stands alone; beside the line
// that says what happened it is a consequence. Pure.
#pragma once

#include <vector>

#include "aggregator/detect/evidence/failure_event.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::crash {

/// Sets `follows` of the general events that stand near a precise one.
void settle_precedence(const job::JobView& view, const std::vector<EventHint>& hints,
                       std::vector<FailureEvent>& events);

}  // namespace l4::detect::crash
