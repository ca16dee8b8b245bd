// Whether a new event is set apart by comparison alone: by what healthy runs print, by the place in
// its log, by the nodes that print it.
//
// Place in the flow: find_failure_events() asks it for new events whose wording says nothing of a
// failure; what words and the fault library know weighs in, but is no condition (the paper, 5.2 and
// 5.3: an event tells of the failure if healthy runs do not print it and it is where the job
// stopped). Pure.
#pragma once

#include "aggregator/detect/evidence/failure_event.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::crash {

/// `found`: an event that began after the end of progress. `pooled`: healthy runs are known, and
/// the hint tells whether they print the event.
bool is_set_apart(const job::JobView& view, const job::JobClock& clock, const FailureEvent& found,
                  const EventHint& hint, bool pooled);

/// Nothing but a line or two stands behind it in most of its streams.
bool is_closing(const job::JobView& view, const FailureEvent& found);

}  // namespace l4::detect::crash
