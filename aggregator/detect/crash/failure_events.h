// The events that show the failure: those that are new when the job stops making progress.
//
// Place in the flow: a JobView, its clock, what the pool and the fault library say of each event;
// out comes a list of failure events with when and where each began. Pure.
// An event that was already there while iterations went on is noise, whatever its level; an event
// known from healthy runs is dropped (paper 5.2) unless it is far more frequent here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aggregator/detect/crash/set_apart.h"
#include "aggregator/detect/evidence/failure_event.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::crash {

FailureEvents find_failure_events(const job::JobView& view, const job::JobClock& clock,
                                  const std::vector<EventHint>& hints, Known known = {});

}  // namespace l4::detect::crash
