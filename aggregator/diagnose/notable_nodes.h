// Notices about nodes that differ from their own past and their peers, or that print a known fault.
//
// Place in the flow: notable.cc adds them to those of figures. One notice a node, for the event
// that shows it most; where many nodes differ by one event, one notice names how many. Ranks that
// print their lines in another order are named one by one. Pure.
#pragma once

#include <vector>

#include "aggregator/detect/spatial/rolling.h"
#include "aggregator/detect/temporal/turns.h"
#include "aggregator/diagnose/findings/findings.h"
#include "aggregator/diagnose/report.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

/// One notice a node and fault: few nodes print again and again what the library knows as a fault
/// of hardware, healthy runs do not print it, and it is reported as no event of a failure.
void add_standing_faults(const Findings& findings, std::vector<Notable>& notable);
void add_differences(const job::JobView& view, const detect::spatial::Differences& differences,
                     std::vector<Notable>& notable);
void add_turns(const job::JobView& view, const std::vector<detect::temporal::Turn>& turns,
               std::vector<Notable>& notable);

}  // namespace l4::diagnose
