// What is answered about incidents, open ones and those of the past.
//
// Flow: api.cc -> here -> store::Database -> http::Response. Thread-safe, no state.
#pragma once

#include <string>

#include "aggregator/http/server.h"
#include "aggregator/live/aggregator.h"

namespace l4::api {

/// `?job=ID`, `?open=true`, `?count=N`, `?after=NEXT`: newest first, without their reports. `next`
/// holds when the last one opened and its id, so that what opens meanwhile, or is dropped for its
/// age, moves nothing.
http::Response incident_list(live::Aggregator& aggregator, const http::Request& request);
/// With its report and evidence.
http::Response incident_of(live::Aggregator& aggregator, const std::string& id);

}  // namespace l4::api
