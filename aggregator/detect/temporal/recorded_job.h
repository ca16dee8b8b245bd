// Temporal comparison of a whole recorded job: feeds a TemporalScorer iteration by iteration.
// Flow: diagnose -> score_job(RecordedJob) -> TemporalFindings over all iterations. Pure.
// Iterations are matched between streams by number; the second iteration of one number is compared
// with the second ones of the other streams. A stream's last iteration is complete if the job has
// ended or at least half of the other streams have gone on to a later one; else it is still open
// and nothing counts as missing in it. If all comparisons exceed TemporalOptions::work_max, only
// the newest iterations are compared; if they still exceed it, each is compared with fewer others.
// So the cost is at most three times work_max.
#pragma once

#include <cstdint>
#include <vector>

#include "aggregator/detect/temporal/temporal.h"

namespace l4::detect::temporal {

struct StreamIteration {
  std::int64_t iteration = 0;
  std::vector<std::uint32_t> events;  ///< in order of printing
  double seconds = kUnknownDuration;
};

struct RecordedJob {
  std::vector<std::vector<StreamIteration>> streams;  ///< per rank, in order of printing
  bool ended = false;  ///< nothing will be printed any more, so an absent tail is missing
};

TemporalFindings score_job(const RecordedJob& job, const TemporalOptions& options = {});

}  // namespace l4::detect::temporal
