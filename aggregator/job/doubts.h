// What the sources of a job say that cannot all be true, told to the user as warnings.
//
// Place in the flow: asked once, when everything has been read. A rank that the names of files put
// on several nodes of one attempt, and a node whose clock differs: it completed the same iteration
// at another time than most, by more than jobs drift apart. Nothing is corrected; the verdict goes
// by nodes and by the order within each file, and the user knows what to doubt. Pure.
#pragma once

#include <vector>

#include "aggregator/job/job_state.h"

namespace l4::job {

/// By rank and by node; bounded: one for each rank and for each node, twenty of a kind at most.
std::vector<wire::Warning> doubts(const JobState& state);

}  // namespace l4::job
