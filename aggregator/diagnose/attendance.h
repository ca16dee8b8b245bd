// Nodes that joined the start, and missing nodes, found by gaps in the names.
//
// Place in the flow: for a launch that failed because nodes waited for others; pure. A node that
// never joined wrote no log, so only the gap between its neighbours' names shows it.
#pragma once

#include <string>
#include <vector>

#include "aggregator/diagnose/report.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

namespace clues {
struct Scale;
}  // namespace clues

/// Names between the first and the last of a numbered series that are not there: node-00, node-02
/// gives node-01. Empty if the names form no numbered series, or if more than a quarter is missing.
std::vector<std::string> missing_names(const std::vector<std::string>& names);

/// True if the nodes waited at the start for other nodes that did not join.
bool waited_for_nodes(const Report& report);

/// Adds to the summary how many nodes joined, and makes the missing ones suspects, with a row of
/// certainty[] of their own.
void report_attendance(const job::JobView& view, const clues::Scale& scale, Report& report);

}  // namespace l4::diagnose
