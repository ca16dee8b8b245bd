// `l4 incidents --follow`: each change of an incident as a line, from the moment it is asked.
//
// Flow: run_follow -> http::follow of /api/v1/events -> ask::EventReader -> a line on standard
// output.
// Blocking, on the thread of the caller, until the reader of standard output goes away or a signal
// ends it. A connection that ends is opened again with the last event's id, so that nothing is
// missed; what the aggregator no longer holds is said on standard error.
#pragma once

#include <string>

#include "tools/l4/ask/asking.h"

namespace l4::commands {

/// Follows the incidents of `job`, or of all if that is empty. Exit status: 2 output that cannot be
/// written; 3 the aggregator did not answer the first time.
int run_follow(const ask::Aggregator& asked, const std::string& job, const std::string& format);

}  // namespace l4::commands
