// Who came to the start: nodes that joined, and those whose names leave a gap.
//
// Place in the flow: for a launch that failed because nodes waited for others; pure. A node that
// never joined wrote no log, so it can only be told by the gap it leaves between its neighbours.
#pragma once

#include <string>
#include <vector>

#include "aggregator/diagnose/report.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

/// Names between the first and the last of a numbered series that are not there: node-00, node-02
/// gives node-01. Empty if the names are no such series, or if more than a quarter is missing.
std::vector<std::string> missing_names(const std::vector<std::string>& names);

/// True if the nodes waited at the start for others that did not come.
bool waited_for_nodes(const Report& report);

/// Says how many nodes joined, and names those that did not as suspects.
void report_attendance(const job::JobView& view, Report& report);

}  // namespace l4::diagnose
