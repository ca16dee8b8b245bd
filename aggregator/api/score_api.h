// Scores of a job's nodes, ranks and phases over its life, over HTTP.
//
// Flow: routes.cc -> here -> scores::score_matrix() on the thread of the job's shard ->
// rows/score_rows.h -> Reply. Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

void show_scores(const RouteCall& call);

}  // namespace l4::api
