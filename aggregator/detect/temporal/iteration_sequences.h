// The events of every stream in every iteration, as input of the temporal comparison.
//
// Place in the flow: JobView -> RecordedJob, and its findings back to ranks of the view. Events are
// numbered as in JobView::events. Pure. Bounds: very large jobs compare only their newest
// iterations, so that at most kSequencesMax sequences are in memory.
#pragma once

#include <vector>

#include "aggregator/detect/evidence/failure_event.h"
#include "aggregator/detect/evidence/parts.h"
#include "aggregator/detect/temporal/recorded_job.h"
#include "aggregator/detect/temporal/temporal.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::temporal {

struct IterationSequences {
  static constexpr std::size_t kSequencesMax = 400'000;

  RecordedJob job;
  std::vector<std::uint32_t> streams;  ///< JobView::streams, by stream of `job`
};

/// Without dtw, no iteration has events.
IterationSequences collect_sequences(const job::JobView& view, const job::JobClock& clock,
                                     Parts without = {});

/// Compares the sequences; `ended`: the job prints no more, so an absent tail is missing.
TemporalFindings compare_iterations(IterationSequences& sequences,
                                    const std::vector<EventHint>& hints, bool ended,
                                    std::uint64_t seed);

}  // namespace l4::detect::temporal
