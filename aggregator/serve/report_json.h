// Writes the report as JSON (schemas/report.schema.json) and reads it.
//
// Flow: aggregator/diagnose makes a Report; programs read this form. Thread-safe, no state.
// The text is byte-stable: fixed order of fields, numbers of at most 4 decimals, valid UTF-8,
// control characters escaped. `report_from_json(to_json(r))` gives r, rounded alike.
#pragma once

#include <string>
#include <string_view>

#include "aggregator/diagnose/report.h"
#include "common/base/error.h"

namespace l4::serve {

/// Ends with a line feed.
std::string to_json(const diagnose::Report& report);

/// Strict: a missing, unknown or ill-typed field is an Error whose `where` is its JSON path
/// ($.events[3].first.time).
Result<diagnose::Report> report_from_json(std::string_view text);

}  // namespace l4::serve
