// Jobs in memory, their nodes and iterations, over HTTP.
//
// Flow: routes.cc -> here -> the shard of the job -> rows/answers.h -> Reply. Thread-safe, no
// state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

/// By id.
void list_jobs(const RouteCall& call);
void show_job(const RouteCall& call);
/// The report as of now, or with `?at=` as of a time of the past.
void show_snapshot(const RouteCall& call);
void show_brief(const RouteCall& call);
void list_nodes(const RouteCall& call);
void list_iterations(const RouteCall& call);

}  // namespace l4::api
