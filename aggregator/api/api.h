// What the aggregator answers over HTTP: questions to its threads, their answers as JSON.
//
// Flow: http::Server -> handler -> Aggregator, whose threads assemble the data -> Reply. Nothing
// waits here. docs/OPERATIONS.md has the answers' forms. Thread-safe, no state.
#pragma once

#include <memory>
#include <string>

#include "aggregator/http/server.h"
#include "aggregator/live/aggregator.h"

namespace l4::api {

/// The aggregator outlives the server that gets this. `counters`: what the server counts; null:
/// none of it is shown.
http::Handler make_handler(live::Aggregator& aggregator,
                           std::shared_ptr<const http::Counters> counters = nullptr);

/// Text for Prometheus. Of the jobs in memory, those that run have series of their own: the
/// kJobSeriesMax that began last; `jobs_without_series` says how many more there are.
inline constexpr std::size_t kJobSeriesMax = 200;
std::string render_metrics(const live::Counts& counts, const live::Health& health,
                           const http::ServerCounts& http = {});

}  // namespace l4::api
