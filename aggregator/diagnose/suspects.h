// Which nodes and ranks are most likely at fault, and why.
//
// Place in the flow: failure events, silence, slowdown and hints in; scored nodes and ranks out,
// most suspect first. Pure. A node's score adds what singles it out: causes that few others have,
// being first, silence while others complain, being behind, being accused, its own phase times.
// Consequences never put a node above one with a cause.
#pragma once

#include <vector>

#include "aggregator/detect/crash/failure_events.h"
#include "aggregator/detect/hang/silence.h"
#include "aggregator/detect/slow/slowdown.h"
#include "aggregator/detect/spatial/spatial.h"
#include "aggregator/detect/temporal/temporal.h"
#include "aggregator/diagnose/hints.h"
#include "aggregator/diagnose/process_evidence.h"
#include "aggregator/diagnose/report.h"
#include "aggregator/diagnose/suspicion.h"

namespace l4::diagnose {

struct Findings {
  const job::JobView& view;
  const job::JobClock& clock;
  const Hints& hints;
  const detect::FailureEvents& failures;
  const detect::hang::Silence& silence;
  const detect::slow::Slowdown& slowdown;
  const ProcessEvidence& processes;
  const Live* live = nullptr;                               ///< of a job that is watched
  const detect::spatial::SpatialResult* spatial = nullptr;  ///< once the state is known
  const detect::temporal::TemporalFindings* temporal = nullptr;
  const std::vector<std::uint32_t>* temporal_streams =
      nullptr;  ///< JobView::streams of its streams
};

/// `lost_nodes`: JobView::nodes that stopped without a word (state node_lost).
Suspects find_suspects(const Findings& findings, State state,
                       const std::vector<std::uint32_t>& lost_nodes);

}  // namespace l4::diagnose
