// The tables of `l4 jobs`, `l4 agents` and `l4 incidents`.
//
// Flow: live_json.h -> here -> standard output. Rows that need attention stand first; columns are
// as wide as their content, empty columns are left out (on narrow pages also the least useful
// ones), and nothing that was sent can act on a terminal. Thread-safe, no state.
#pragma once

#include <string>

#include "aggregator/serve/report_text.h"
#include "tools/l4/ask/live_json.h"

namespace l4::commands {

/// Ages are counted up to `now`.
std::string to_text(const ask::JobList& list, TimeMs now, const serve::TextStyle& style);
std::string to_text(const ask::AgentList& list, TimeMs now, const serve::TextStyle& style);
std::string to_text(const ask::IncidentList& list, TimeMs now, const serve::TextStyle& style);
std::string to_text(const std::vector<ask::SnapshotRow>& rows, TimeMs now,
                    const serve::TextStyle& style);

}  // namespace l4::commands
