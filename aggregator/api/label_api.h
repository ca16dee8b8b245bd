// Labels over HTTP: what people say was true of incidents and jobs, to fit confidences to.
//
// Flow: routes.cc -> here -> confirm/label.h -> store::Database. Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

/// Stores the truth of the incident {id} with the claims that it judges; replaces an earlier label.
/// 422: the report makes no claim that the truth judges.
http::Response label_incident(const RouteCall& call);
/// All labels, ascending by subject, of jobs that the token may see.
http::Response list_labels(const RouteCall& call);

}  // namespace l4::api
