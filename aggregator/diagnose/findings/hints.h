// Knowledge of each event from outside this job: its wording, the fault library, the pool.
//
// Place in the flow: JobView + Pool + fault library -> one EventHint per event, which the detectors
// are given. Pure. Also keeps which faults matched, for the report.
#pragma once

#include <vector>

#include "aggregator/detect/cross_job/cross_job.h"
#include "aggregator/detect/evidence/accused.h"
#include "aggregator/detect/evidence/failure_event.h"
#include "aggregator/detect/evidence/parts.h"
#include "common/base/time.h"

namespace l4::faults {
struct Fault;
class Library;
}  // namespace l4::faults
namespace l4::job {
struct EventView;
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

struct Pool;

struct Hints {
  std::vector<detect::EventHint> events;                  ///< by JobView::events
  std::vector<std::vector<const faults::Fault*>> faults;  ///< by JobView::events
  std::vector<detect::Accused> accused;     ///< by JobView::events: whom a failure blames
  std::vector<detect::Outsider> outsiders;  ///< of `accused`
  std::uint64_t events_dropped = 0;         ///< known from the pool
};

/// The longest duration that a line of the event names; 0 if none does.
Millis longest_duration(const job::EventView& event);

/// `library` may be null (--without library).
Hints make_hints(const job::JobView& view, const Pool& pool, const faults::Library* library,
                 detect::cross_job::Rule rule = detect::cross_job::Rule::l4,
                 detect::Parts without = {});

}  // namespace l4::diagnose
