// Alerts over HTTP: what became of them at each sink, and a test of the sinks.
//
// Flow: routes.cc -> here -> Aggregator::deliveries, at once, or Aggregator::test_alerts -> Reply,
// once all sinks have answered. Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

/// Of each sink, or of the one called `sink`, what waits, what it took and what was lost.
http::Response list_alerts(const RouteCall& call);

/// The body may name one `sink`; else all of them are tried.
void test_alerts(const RouteCall& call);

}  // namespace l4::api
