// Open and resolved incidents over HTTP.
//
// Flow: routes.cc -> here -> store::Database -> http::Response. Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

/// `?job=ID`, `?open=true`, `?count=N`, `?after=NEXT`: newest first, without reports. `next` holds
/// the opening time and the id of the page's last incident, so that incidents that open or are
/// dropped meanwhile do not shift the next page.
http::Response list_incidents(const RouteCall& call);
/// One incident with its report and evidence.
http::Response show_incident(const RouteCall& call);

}  // namespace l4::api
