// A job that fell silent: since when, whether it hangs or was killed, and who stopped first.
//
// Place in the flow: a JobTracker and the clock of the rows -> find_silence -> a finding. Pure.
// Flows alone seldom tell a hang from a crash; where they do not, the cause is `stopped`.
#pragma once

#include <optional>

#include "aggregator/flows/job_flows.h"
#include "aggregator/flows/streams.h"
#include "aggregator/flows/tracker.h"

namespace l4::flows {

/// A silence that is longer is no pause: three steps, or twice the longest gap.
TimeNs deadline_of(const JobTracker& job);

/// `now`: latest end of any record; `others`: of rows of other jobs. A job that stops after a whole
/// step may have finished: it counts as silent only while other jobs go on.
std::optional<FlowFinding> find_silence(const JobTracker& job, const StreamTable& table, TimeNs now,
                                        TimeNs others);

}  // namespace l4::flows
