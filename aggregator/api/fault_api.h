// The fault library over HTTP: what is known, and the word of engineers on incidents.
//
// Flow: api.cc -> here -> Aggregator::library, confirm, drop_fault -> Reply. Bodies are read
// strictly (serve/json_object.h); schemas/openapi.yaml has the forms. Nothing waits here.
// Thread-safe, no state.
#pragma once

#include <string>

#include "aggregator/http/server.h"
#include "aggregator/live/aggregator.h"

namespace l4::api {

/// `?confirmed=true`: only those; `?whole=true`: all that is known of each; `?format=toml`: as a
/// file of the library.
http::Response fault_list(const live::Aggregator& aggregator, const http::Request& request);
http::Response fault_of(const live::Aggregator& aggregator, const std::string& id);
void confirm_fault(live::Aggregator& aggregator, const http::Request& request,
                   const http::Reply& reply);
void drop_fault(live::Aggregator& aggregator, const http::Request& request, const std::string& id,
                const http::Reply& reply);

}  // namespace l4::api
