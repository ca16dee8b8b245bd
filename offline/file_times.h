// Tells whether the file times are those of the logs themselves, or of a copy.
//
// Place in the flow: a job read to its end -> diagnose::Options::mtimes_equal. A file that is
// written to has the time of its last line, or differs from it by a time zone; a copy made file by
// file has times of its own, later and in no relation to the lines. Pure.
#pragma once

#include "aggregator/job/job_state.h"

namespace l4::offline {

/// True if most files that print times have a file time that does not fit their last line. The
/// diagnosis decides whether such times are ignored, because it knows the job's newest line
/// (docs/adr/0005).
bool times_of_copy(const job::JobState& state);

}  // namespace l4::offline
