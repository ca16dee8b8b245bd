// The state of the aggregator itself over HTTP: agents, health, metrics, and a stream of events.
//
// Flow: routes.cc -> here -> Aggregator -> Reply. Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

/// By name.
void list_agents(const RouteCall& call);
http::Response show_health(const RouteCall& call);
/// Whether agents and people can be served at all: an aggregator that is merely degraded is ready.
http::Response show_readiness(const RouteCall& call);
/// Version, disk, agents that never came, sinks.
void show_status(const RouteCall& call);
void show_metrics(const RouteCall& call);
/// Events of all jobs, or with `?job=ID` of one.
http::Response follow_events(const RouteCall& call);
/// Events of one job, which must be in memory.
void follow_job(const RouteCall& call);

}  // namespace l4::api
