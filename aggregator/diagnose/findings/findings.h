// Results of all detectors on one attempt of a job.
//
// Place in the flow: the table of detectors (detectors.h) fills it; verdict, suspects and report
// read it. It is filled in two steps: what was seen decides the state, and what is compared depends
// on the state. The view, its clock and the hints belong to the caller and outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aggregator/detect/delay/delays.h"
#include "aggregator/detect/ending/endings.h"
#include "aggregator/detect/evidence/failure_event.h"
#include "aggregator/detect/figures/figures.h"
#include "aggregator/detect/hang/silence.h"
#include "aggregator/detect/network/bearing.h"
#include "aggregator/detect/nics/nics.h"
#include "aggregator/detect/slow/slowdown.h"
#include "aggregator/detect/spatial/rolling.h"
#include "aggregator/detect/spatial/spatial.h"
#include "aggregator/detect/stage/stages.h"
#include "aggregator/detect/temporal/iteration_sequences.h"
#include "aggregator/detect/temporal/temporal.h"
#include "aggregator/detect/temporal/turns.h"
#include "aggregator/diagnose/findings/hints.h"
#include "aggregator/diagnose/findings/process_evidence.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

struct Findings {
  const job::JobView& view;
  const job::JobClock& clock;
  const Hints& hints;
  const Live* live = nullptr;  ///< for a job that is watched

  // Results of the step `seen`, before the state is decided.
  /// The step `compared` puts a slow job's symptoms here. Once the state is known, those of a job
  /// that goes on or has ended well give way to the faults that it bears with (standing.h).
  detect::FailureEvents failures = {};
  detect::FailureEvents apart = {};  ///< found by comparison, and no evidence of a failure
  detect::hang::Silence silence = {};
  detect::slow::Slowdown slowdown = {};
  detect::stage::Stages stages = {};
  detect::ending::Endings endings = {};
  ProcessEvidence processes = {};
  detect::network::Bearing network = {};  ///< its `network` is null where nothing is known

  // Results of the step `compared`; empty until the state is decided.
  std::vector<detect::figures::Change> figures = {};
  std::vector<detect::delay::Delay> delays = {};
  std::optional<detect::spatial::SpatialResult> spatial = {};
  detect::spatial::Differences differences = {};  ///< nodes that differ while the job runs
  std::optional<detect::temporal::TemporalFindings> temporal = {};
  detect::temporal::IterationSequences sequences = {};  ///< what `temporal` compared
  std::vector<detect::temporal::Turn> turns = {};       ///< ranks that print in another order
  detect::nics::Nics nics = {};                         ///< empty where no card is watched
};

}  // namespace l4::diagnose
