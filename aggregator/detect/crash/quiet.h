// New events that do not sound like a failure, beside those that do.
//
// Place in the flow: find_failure_events() has judged each event; these are left. Pure.
#pragma once

#include <vector>

#include "aggregator/detect/crash/set_apart.h"
#include "aggregator/detect/evidence/failure_event.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::crash {

/// After a failure all other new events belong to it, and shortly before it those that healthy runs
/// do not print: except details, and what a single rank warns of elsewhere. Moves them from `quiet`
/// to `found`.
void add_quiet(const job::JobView& view, const job::JobClock& clock,
               const std::vector<EventHint>& hints, const UsualCourse& course,
               std::vector<FailureEvent>& quiet, FailureEvents& found);

}  // namespace l4::detect::crash
