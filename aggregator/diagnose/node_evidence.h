// How each node differs from the others while the job fails: input and result of the spatial
// comparison (paper 5.3.1), in terms of a JobView.
//
// Place in the flow: failure events -> detect::spatial -> suspects. Pure. One row per node, one
// column per failure event; the window is the time since progress ended, in which all of them are
// new to the job, so the cells say "new here", "how often" and "silent".
#pragma once

#include "aggregator/detect/crash/failure_events.h"
#include "aggregator/detect/spatial/spatial.h"
#include "aggregator/diagnose/hints.h"

namespace l4::diagnose {

detect::spatial::SpatialResult compare_nodes_by_failure(const job::JobView& view,
                                                        const Hints& hints,
                                                        const detect::FailureEvents& failures,
                                                        std::uint64_t seed);

}  // namespace l4::diagnose
