// The events that accompany a slowdown: new ones that keep coming, on few nodes, from its beginning
// on.
// Place in the flow: a JobView, its clock, a found Slowdown and the hints in; events like those of
// a crash out, so that suspects and reports treat both alike. If a job is too young for its times
// alone to decide, symptoms are half of the evidence. Pure. A burst that ends before the job, or
// that began long before the slowdown, is no symptom; nor is one of other nodes where the own work
// of few ranks explains most of the slowdown.
#pragma once

#include <vector>

#include "aggregator/detect/evidence/failure_event.h"
#include "aggregator/detect/slow/slowdown.h"

namespace l4::detect::slow {

FailureEvents find_symptoms(const job::JobView& view, const job::JobClock& clock,
                            const Slowdown& slowdown, const std::vector<EventHint>& hints);

/// Finds a shift with a recurring symptom, for a job with too few iterations for find_slowdown().
/// Finds nothing if there are enough iterations, or no such symptom.
Slowdown find_short_slowdown(const job::JobView& view, const job::JobClock& clock,
                             const std::vector<EventHint>& hints);

}  // namespace l4::detect::slow
