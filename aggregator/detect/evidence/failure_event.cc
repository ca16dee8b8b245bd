#include "aggregator/detect/evidence/failure_event.h"

#include <set>

#include "aggregator/job/view.h"
#include "common/base/earliest.h"

namespace l4::detect {

std::size_t count_nodes(const job::JobView& view, const FailureEvent& event) {
  std::set<std::uint32_t> nodes;
  for (const std::uint32_t i : event.occurrences)
    nodes.insert(view.streams[view.events[event.event].at[i].stream].node);
  return nodes.size();
}

void FailureEvents::note_failures() {
  fatal = false;
  first_failure.reset();
  last_failure.reset();
  for (const FailureEvent& event : events) {
    if (event.severity < Severity::failure) continue;
    if (event.severity == Severity::fatal) fatal = true;
    if (!event.first_time) continue;
    keep_earliest(first_failure, event.first_time);
    keep_latest(last_failure, event.first_time);
  }
}

}  // namespace l4::detect
