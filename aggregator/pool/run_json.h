// Runs of the pool as JSON: in the database, in answers over HTTP, and in exported files.
//
// A file is {"schema": "l4.pool/1", "runs": [...]}; an answer over HTTP also has `next`, which is
// skipped. Reading is strict: the first error is returned, with the path of its value as `where`.
// Bounds: those of run.h, and kRunsMax. No state.
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/pool/run.h"
#include "aggregator/serve/json_text.h"
#include "common/base/error.h"

namespace l4::pool {

inline constexpr std::string_view kSchema = "l4.pool/1";
inline constexpr std::size_t kRunsMax = 100'000;

/// `whole`: with events and pauses; otherwise only their number, as `events_known`.
void write(serve::JsonWriter& to, const Run& run, bool whole);
std::string to_json(const std::vector<const Run*>& runs, bool whole);
/// One whole run: a row of the database.
std::string to_json(const Run& run);

/// Reads what to_json has written. With `whole` each run must have its events; otherwise it gets as
/// many empty events as `events_known` says.
Result<std::vector<Run>> read_runs(std::string_view text, bool whole);
Result<Run> read_run(std::string_view text);

/// Passes the whole runs of a document to `visit`, one after the other, until it returns an Error.
/// For documents that do not fit into memory: an error in the document is returned after the runs
/// before it were visited.
Result<void> each_run(std::istream& in, const std::function<Result<void>(Run)>& visit);

}  // namespace l4::pool
