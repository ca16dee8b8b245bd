// Decides the state of the job.
//
// Place in the flow: findings of all detectors in, one Verdict out (without scope and summary,
// which need the suspects; how sure it is says certainty.h). Pure. The state names how the failure
// began: a hang that a timeout kills later is `hung`, any failure before the first completed
// iteration is `launch_failed`.
#pragma once

#include <cstdint>
#include <vector>

#include "aggregator/diagnose/findings/findings.h"
#include "aggregator/diagnose/findings/states.h"
#include "aggregator/diagnose/report.h"
#include "aggregator/diagnose/verdict_table.h"

namespace l4::diagnose {

struct VerdictInput {
  const Findings& findings;
  std::vector<std::uint32_t> lost_nodes;  ///< JobView::nodes that stopped without a word
  bool silence_known = false;  ///< as_of does not come from the newest line, so it shows silence
  bool lost_known = false;     ///< those nodes' agents are lost, too
};

/// The job is over or stands still, and nothing says that it has done what it was to do.
bool has_stopped(const Findings& findings);

/// The facts that decide, in which the verdict's table is read.
Facts facts_of(const VerdictInput& input);

Verdict decide(const VerdictInput& input, Facts known);

}  // namespace l4::diagnose
