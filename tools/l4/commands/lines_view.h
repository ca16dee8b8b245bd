// The raw lines of `l4 lines` as text.
//
// Flow: live_json.h -> here -> standard output. A block for each file, a mark before each line that
// was asked for, what is missing at the end. Lines are whole, however wide; nothing that stands in
// them can act on a terminal. Thread-safe, no state.
#pragma once

#include <string>

#include "aggregator/serve/report_text.h"
#include "tools/l4/ask/live_json.h"

namespace l4::commands {

std::string to_text(const ask::LineList& list, const serve::TextStyle& style);

}  // namespace l4::commands
