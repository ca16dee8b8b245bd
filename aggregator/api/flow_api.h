// Jobs as the training network shows them, over HTTP.
//
// Flow: routes.cc -> here -> the nodes of the job on its shard's thread -> jobs of the collector on
// the thread of the flows -> rows/flow_rows.h -> Reply. Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

void list_flows(const RouteCall& call);
void show_job_flows(const RouteCall& call);

}  // namespace l4::api
