// Network cards of a job's nodes, over HTTP.
//
// Flow: routes.cc -> here -> detect::nics::find_nics() on the thread of the job's shard ->
// rows/nic_rows.h -> Reply. Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

void show_nics(const RouteCall& call);

}  // namespace l4::api
