// Which events tell of the failure: those that are new when the job stops making progress.
//
// Place in the flow: a JobView, its clock, what the pool and the fault library say of each event;
// out comes a list of failure events with when and where each began. Pure.
// An event that was already there while iterations went on is noise, whatever its level; an event
// known from healthy runs is dropped (paper 5.2) unless it is far more frequent here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aggregator/detect/crash/wording.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"

namespace l4::detect::crash {

/// What is known of an event beside this job; one per JobView::events.
struct EventHint {
  Severity severity = Severity::none;
  bool consequence = false;  ///< usually follows another fault
  bool known_fault = false;
  bool waited = false;  ///< says that something was waited for and did not come
  bool accuses_peer = false;
  bool in_pool = false;
  bool excess = false;  ///< in the pool, but far more frequent here
};

struct FailureEvent {
  std::uint32_t event = 0;  ///< index into JobView::events
  Severity severity = Severity::none;
  std::vector<std::uint32_t> occurrences;  ///< indices into EventView::at that count
  std::optional<TimeMs> first_time;
  std::uint32_t first_stream = 0;
};

struct FailureEvents {
  std::vector<FailureEvent> events;     ///< by first time, those without a time last
  std::optional<TimeMs> first_failure;  ///< first event of at least Severity::failure
  std::optional<TimeMs> last_failure;
  bool fatal = false;  ///< some event ends a process
};

FailureEvents find_failure_events(const job::JobView& view, const job::JobClock& clock,
                                  const std::vector<EventHint>& hints);

}  // namespace l4::detect::crash
