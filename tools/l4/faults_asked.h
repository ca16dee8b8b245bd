// The faults that a running aggregator knows, as a library of this program.
//
// Flow: `l4 faults list`, `show` and `match` with --address -> here -> GET /api/v1/faults, page by
// page -> faults::Library. What was answered is checked as a file of a library is: a pattern that
// is none refuses it. Blocking, no state.
#pragma once

#include "aggregator/faults/library.h"
#include "tools/l4/asking.h"

namespace l4::cli {

/// All of them; `confirmed`: only those that engineers have confirmed.
Answer<faults::Library> ask_library(const Aggregator& asked, bool confirmed);

/// The one of this id; a Failure with kWrongUse if the aggregator has none.
Answer<faults::Fault> ask_fault(const Aggregator& asked, const std::string& id);

}  // namespace l4::cli
