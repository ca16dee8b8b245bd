// What is said of a name that nobody has: the sentence, with what may have been meant.
//
// Flow: an aggregator answered that there is no such thing -> here -> it is asked for the names
// that it does know -> a Failure that ends with kWrongUse. Where it does not answer this time, the
// sentence goes without. No state.
#pragma once

#include <string>

#include "tools/l4/ask/asking.h"

namespace l4::ask {

Failure no_such_job(const Aggregator& asked, const std::string& name);
Failure no_such_incident(const Aggregator& asked, const std::string& name);
/// Of the pool.
Failure no_such_run(const Aggregator& asked, const std::string& name);
Failure no_such_confirmed_fault(const Aggregator& asked, const std::string& name);

}  // namespace l4::ask
