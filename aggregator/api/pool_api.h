// The pool of healthy runs over HTTP, and the outcomes of jobs that people report.
// Flow: routes.cc -> here -> Aggregator::pool, record_outcome -> Reply. Bodies are read strictly;
// schemas/openapi.yaml has the forms. Only a change waits for the disk. Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

/// `?whole=true`: with events and pauses, as it can be posted again; `?kind=ID`: of this kind.
http::Response list_pool(const RouteCall& call);
http::Response show_pool_run(const RouteCall& call);
http::Response import_pool(const RouteCall& call);
http::Response drop_pool_run(const RouteCall& call);
void record_outcome(const RouteCall& call);

}  // namespace l4::api
