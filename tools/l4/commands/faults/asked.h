// The faults that a running aggregator knows, as a library of this program.
//
// Flow: `l4 faults list`, `show` and `match` with --address -> here -> GET /api/v1/faults, page by
// page -> faults::Library. The answer is checked like a file of a library: a broken pattern
// refuses all of it. Blocking, no state.
#pragma once

#include "aggregator/faults/library.h"
#include "tools/l4/ask/asking.h"

namespace l4::commands::faults {

/// All faults; `confirmed`: only those that engineers have confirmed.
ask::Answer<l4::faults::Library> ask_library(const ask::Aggregator& asked, bool confirmed);

/// The fault of this id; a Failure with kWrongUse if the aggregator has no such fault.
ask::Answer<l4::faults::Fault> ask_fault(const ask::Aggregator& asked, const std::string& id);

}  // namespace l4::commands::faults
