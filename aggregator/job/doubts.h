// Contradictions between the sources of a job, as warnings for the user.
// Place in the flow: asked once, when everything has been read. Two kinds: a rank that file names
// put on several nodes of one attempt, and a node whose clock differs: its times of the same
// iterations differ from those of most nodes by more than ranks drift apart. Nothing is corrected;
// the verdict goes by nodes and by the order within each file, and the warning says what to doubt.
// Pure.
#pragma once

#include <vector>

#include "aggregator/job/job_state.h"

namespace l4::job {

/// The warnings, by rank and by node: one for each rank and each node, at most twenty of a kind.
std::vector<wire::Warning> doubts(const JobState& state);

}  // namespace l4::job
