// The order in which the events of a failure came, also of those whose lines print no time.
//
// Flow: failure_events.cc finds the events, then they are sorted here. A line without a time takes
// its place beside a line of the failure with a time that stands near it in its file: the last
// stamp before it may be hours old, so it alone would make the line the first sign. Without such a
// line the last stamp counts. Lines of files without times come last, in the order of their
// iterations; lines of equal place in the order of the file. Pure function.
#pragma once

#include <vector>

#include "aggregator/detect/evidence/failure_event.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::crash {

/// Sets `placed` of each event and sorts by it.
void sort_by_place(const job::JobView& view, std::vector<FailureEvent>& events);

}  // namespace l4::detect::crash
