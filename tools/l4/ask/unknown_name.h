// The failure for a name that the aggregator does not know, with names that may have been meant.
// Flow: an aggregator does not know a name -> here -> asks it for the names that it knows -> a
// Failure that ends with kWrongUse. If it does not answer this time, the sentence suggests nothing.
// No state.
#pragma once

#include <string>

#include "tools/l4/ask/asking.h"

namespace l4::ask {

/// False only if the aggregator answers that it does not watch this job.
bool is_watched_job(const Aggregator& asked, const std::string& name);

Failure no_such_job(const Aggregator& asked, const std::string& name);
Failure no_such_incident(const Aggregator& asked, const std::string& name);
/// A run of the pool.
Failure no_such_run(const Aggregator& asked, const std::string& name);
Failure no_such_confirmed_fault(const Aggregator& asked, const std::string& name);

}  // namespace l4::ask
