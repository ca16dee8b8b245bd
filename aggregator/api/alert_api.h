// Alerts over HTTP: a test of the sinks.
//
// Flow: routes.cc -> here -> Aggregator::test_alerts -> Reply, once all sinks have answered.
// Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

/// The body may name one `sink`; else all of them are tried.
void test_alerts(const RouteCall& call);

}  // namespace l4::api
