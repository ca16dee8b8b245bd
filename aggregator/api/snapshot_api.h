// Stored reports: one at each incident's opening, and one for each request to store.
//
// Flow: routes.cc -> here -> the database, or the shard of the job, which stores one -> Reply.
// Thread-safe, no state.
#pragma once

#include <string_view>

#include "aggregator/api/route_call.h"

namespace l4::api {

/// `?count=N`, `?before=ID`: at most N reports, those before ID; newest first.
http::Response list_snapshots(const RouteCall& call);
/// `at`: the id of a stored report, or a time as of which the report is made.
void show_snapshot_at(const RouteCall& call, std::string_view at);
void store_snapshot(const RouteCall& call);

}  // namespace l4::api
