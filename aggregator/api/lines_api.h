// `GET /api/v1/jobs/{id}/lines`: what is asked, read strictly; what was found, as JSON.
//
// Flow: routes.cc -> here -> Aggregator::lines -> here -> Reply. docs/OPERATIONS.md has the form.
// Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

void list_lines(const RouteCall& call);

}  // namespace l4::api
