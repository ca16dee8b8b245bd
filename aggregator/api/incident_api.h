// Open and resolved incidents over HTTP.
//
// Flow: routes.cc -> here -> store::Database -> http::Response. Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

/// `?job=ID`, `?open=true`, `?count=N`, `?after=NEXT`: newest first, without their reports. `next`
/// holds when the last one opened and its id, so that what opens meanwhile, or is dropped for its
/// age, moves nothing.
http::Response list_incidents(const RouteCall& call);
/// With its report and evidence.
http::Response show_incident(const RouteCall& call);

}  // namespace l4::api
