// Notices about nodes that differ from their own past and their peers, or that print a known fault.
//
// Place in the flow: notable.cc adds them to those of figures. One notice a node, for the event
// that shows it most; where many nodes differ by one event, one notice names how many. Ranks that
// print their lines in another order are named one by one. Pure.
#pragma once

#include <vector>

#include "aggregator/detect/spatial/rolling.h"
#include "aggregator/detect/temporal/turns.h"
#include "aggregator/diagnose/findings/standing.h"
#include "aggregator/diagnose/report.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

void add_standing_faults(const job::JobView& view, const std::vector<StandingFault>& faults,
                         std::vector<Notable>& notable);
void add_differences(const job::JobView& view, const detect::spatial::Differences& differences,
                     std::vector<Notable>& notable);
void add_turns(const job::JobView& view, const std::vector<detect::temporal::Turn>& turns,
               std::vector<Notable>& notable);

}  // namespace l4::diagnose
