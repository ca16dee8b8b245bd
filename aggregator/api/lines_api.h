// `GET /api/v1/jobs/{id}/lines`: reads the question strictly and writes the found lines as JSON.
//
// Flow: routes.cc -> here -> Aggregator::lines -> here -> Reply. docs/LIVE.md, "Raw lines", has
// the form.
// Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

void list_lines(const RouteCall& call);

}  // namespace l4::api
