// `GET /api/v1/jobs/{id}/lines`: what is asked, read strictly; what was found, as JSON.
//
// Flow: api.cc -> here -> Aggregator::lines -> here -> Reply. docs/OPERATIONS.md has the form.
// Thread-safe, no state.
#pragma once

#include <string>

#include "aggregator/http/server.h"
#include "aggregator/live/aggregator.h"

namespace l4::api {

void answer_lines(live::Aggregator& aggregator, const std::string& job,
                  const http::Request& request, const http::Reply& reply);

}  // namespace l4::api
