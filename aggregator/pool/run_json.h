// Runs of the pool as JSON: what the database keeps, what HTTP answers, what is exported.
//
// A file is {"schema": "l4.pool/1", "runs": [...]}. Reading is strict: the first thing that is
// wrong is an Error whose `where` is the path of the value. Every bound of run.h is held, and
// kRunsMax. No state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aggregator/pool/run.h"
#include "aggregator/serve/json_text.h"
#include "common/base/error.h"

namespace l4::pool {

inline constexpr std::string_view kSchema = "l4.pool/1";
inline constexpr std::size_t kRunsMax = 100'000;

/// `whole`: with its events and pauses; without, how many there are, as `events_known`.
void put(serve::JsonWriter& to, const Run& run, bool whole);
std::string to_json(const std::vector<const Run*>& runs, bool whole);
/// Of one run, whole: a row of the database.
std::string to_json(const Run& run);

/// What to_json has made of runs; with `whole` each must have its events, without there are as many
/// empty ones as it has.
Result<std::vector<Run>> read_runs(std::string_view text, bool whole);
Result<Run> read_run(std::string_view text);

}  // namespace l4::pool
