// Reports that were stored: one at each incident's opening, and those that somebody asked to store.
//
// Flow: api.cc -> here -> the database, or the shard of the job, which stores one -> Reply.
// Thread-safe, no state.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "aggregator/http/server.h"
#include "aggregator/live/aggregator.h"

namespace l4::api {

/// `?count=N`, those before `?before=ID`; newest first.
http::Response snapshot_list(live::Aggregator& aggregator, const std::string& job,
                             const http::Request& request);
/// `at`: the id of a stored one, or a time: the report as the job stood then.
void snapshot_at(live::Aggregator& aggregator, const std::string& job, std::string_view at,
                 const std::stop_token& left, const http::Reply& reply);
void store_snapshot(live::Aggregator& aggregator, const std::string& job,
                    const http::Request& request, const http::Reply& reply);

}  // namespace l4::api
