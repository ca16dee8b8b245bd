// The difference of two reports: what is new in the second, what is gone, what has changed.
//
// Flow: `l4 show A --diff B`, `l4 snapshot JOB --diff B` -> here. Nodes, ranks and faults are
// compared by name, events by template id; order and scores do not count. Thread-safe, no state.
#pragma once

#include <string>

#include "aggregator/diagnose/report.h"
#include "aggregator/serve/report_text.h"

namespace l4::serve {

/// The changes from `before` to `now` as text. Lists are cut to `top` and the rest is counted.
std::string diff_text(const diagnose::Report& before, const diagnose::Report& now,
                      const TextStyle& style);
/// {"schema": "l4.report_diff/1", ...}; ends with a line feed.
std::string diff_json(const diagnose::Report& before, const diagnose::Report& now);

}  // namespace l4::serve
