// Runs of the pool as JSON: what the database keeps, what HTTP answers, what is exported.
//
// A file is {"schema": "l4.pool/1", "runs": [...]}; what HTTP answers has `next` beside it, which
// says nothing of the runs and is passed over. Reading is strict: the first thing that is
// wrong is an Error whose `where` is the path of the value. Every bound of run.h is held, and
// kRunsMax. No state.
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

/// `whole`: with its events and pauses; without, how many there are, as `events_known`.
void put(serve::JsonWriter& to, const Run& run, bool whole);
std::string to_json(const std::vector<const Run*>& runs, bool whole);
/// Of one run, whole: a row of the database.
std::string to_json(const Run& run);

/// What to_json has made of runs; with `whole` each must have its events, without there are as many
/// empty ones as it has.
Result<std::vector<Run>> read_runs(std::string_view text, bool whole);
Result<Run> read_run(std::string_view text);

/// The runs of a document of any length, each whole, one after the other, until `take` has an
/// Error: read_runs for what does not fit into memory. A document that is wrong further down is
/// told after the runs before it.
Result<void> each_run(std::istream& in, const std::function<Result<void>(Run)>& take);

}  // namespace l4::pool
