// How well the lines of a job were understood, as the report tells of it.
//
// Place in the flow: what agents said about their files, and the sources of a job, in; Report::read
// out, of all attempts of the job together. Pure. A report lists only the files that were
// understood worst, so that of a job with thousands of files stays small; `l4 inspect` shows all.
#pragma once

#include <cstddef>
#include <vector>

#include "aggregator/diagnose/report.h"

namespace l4::job {
class JobState;
}  // namespace l4::job

namespace l4::diagnose {

/// Lists at most `files_max` files.
ReadSummary summarise_reading(const job::JobState& state, std::size_t files_max = kSourcesReadMax);
/// How the files replied that were read.
std::vector<Asked> asked_files(const job::JobState& state);

}  // namespace l4::diagnose
