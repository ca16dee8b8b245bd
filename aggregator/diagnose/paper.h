// The method exactly as published (`scoring = "paper"`), to compare with on the same input.
//
// Place in the flow: instead of failure_events and suspects. Cross-job: an event is dropped if at
// least half of the pool's runs have it. Spatial: Isolation Forest over raw counts, nodes by score,
// all events of nodes above mean + 3 sd. Temporal: DTW with 0/1 cost to the previous ten
// iterations, mu + 3 sigma; new events of such an iteration. No fault library, no accusations, no
// silence. Only the state of the job is decided as elsewhere, since the paper assumes it is known.
#pragma once

#include <cstdint>

#include "aggregator/diagnose/findings/findings.h"
#include "aggregator/diagnose/suspicion.h"

namespace l4::diagnose {

struct PaperFindings {
  detect::FailureEvents failures;
  Suspects suspects;
  detect::temporal::TemporalFindings temporal;
};

PaperFindings diagnose_as_published(const Findings& findings, std::uint64_t seed);

}  // namespace l4::diagnose
