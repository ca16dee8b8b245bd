// Scores of a job's nodes, ranks and phases over its life, and the terms of one of them, over HTTP.
//
// Flow: routes.cc -> here -> scores::score_matrix(), scores::cell_terms() on the thread of the
// job's shard -> rows/score_rows.h, rows/term_rows.h -> Reply. Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

void show_scores(const RouteCall& call);
void show_score_terms(const RouteCall& call);

}  // namespace l4::api
