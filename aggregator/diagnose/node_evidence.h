// How each node differs from the others while the job fails: input and result of the spatial
// comparison (paper 5.3.1), in terms of a JobView.
//
// Place in the flow: failure events -> detect::spatial -> suspects. Pure. One row per node, one
// column per failure event; the window is the time since progress ended, in which all of them are
// new to the job, so the cells say "new here", "how often" and "silent".
#pragma once

#include "aggregator/detect/evidence/failure_event.h"
#include "aggregator/detect/spatial/spatial.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

struct Hints;

detect::spatial::SpatialResult compare_nodes_by_failure(const job::JobView& view,
                                                        const Hints& hints,
                                                        const detect::FailureEvents& failures,
                                                        std::uint64_t seed);

}  // namespace l4::diagnose
