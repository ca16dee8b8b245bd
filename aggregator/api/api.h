// The aggregator's answers over HTTP: questions to its threads, their answers as JSON.
//
// Flow: http::Server -> make_handler -> the handler of the route (routes.h) -> Aggregator, whose
// threads assemble the data -> Reply. Nothing waits here. schemas/openapi.yaml has the forms of the
// answers. Thread-safe, no state.
#pragma once

#include <memory>

#include "aggregator/http/server.h"
#include "aggregator/live/aggregator.h"

namespace l4::api {

/// The aggregator outlives the server that gets the handler. `counters`: those of the server; null:
/// they are not shown.
http::Handler make_handler(live::Aggregator& aggregator,
                           std::shared_ptr<const http::Counters> counters = nullptr);

}  // namespace l4::api
