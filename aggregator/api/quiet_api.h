// Acknowledged incidents and maintenance over HTTP.
// Flow: routes.cc -> here -> alert::QuietBook -> Reply; every change is published as an event.
// Bodies are read strictly; schemas/openapi.yaml has the forms. Only a change waits for the disk.
// Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

http::Response acknowledge(const RouteCall& call);
http::Response take_back_acknowledgement(const RouteCall& call);

/// `?over=true`: also those that are over.
http::Response list_maintenance(const RouteCall& call);
/// Refused if the pattern matches no name that is known now, unless the body says `unseen`.
void begin_maintenance(const RouteCall& call);
http::Response end_maintenance(const RouteCall& call);

}  // namespace l4::api
