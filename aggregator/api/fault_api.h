// The fault library over HTTP: the known faults, and engineers' confirmations of incidents.
//
// Flow: routes.cc -> here -> Aggregator::library, confirm, drop_fault -> Reply. Bodies are read
// strictly (serve/json_object.h); schemas/openapi.yaml has the forms. Nothing waits here.
// Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"
#include "aggregator/faults/fault.h"

namespace l4::api {

/// `?confirmed=true`: only confirmed faults; `?whole=true`: every field of each; `?format=toml`: as
/// a file of the library.
http::Response list_faults(const RouteCall& call);
http::Response show_fault(const RouteCall& call);
/// A fault that was confirmed holds lines of the job whose incident it was confirmed with.
bool may_see_fault(const RouteCall& call, const faults::Fault& fault);
void confirm_fault(const RouteCall& call);
void drop_fault(const RouteCall& call);

}  // namespace l4::api
