// The pool of healthy runs over HTTP, and what people tell of how jobs ended.
//
// Flow: api.cc -> here -> Aggregator::pool, tell_outcome -> Reply. Bodies are read strictly;
// schemas/openapi.yaml has the forms. A change waits for the disk, nothing else does. Thread-safe,
// no state.
#pragma once

#include <string>

#include "aggregator/http/server.h"
#include "aggregator/live/aggregator.h"

namespace l4::api {

/// `?whole=true`: with events and pauses, as it can be posted again; `?kind=ID`: of this kind.
http::Response pool_list(live::Aggregator& aggregator, const http::Request& request);
http::Response pool_run(live::Aggregator& aggregator, const std::string& run);
http::Response import_pool(live::Aggregator& aggregator, const http::Request& request);
http::Response drop_pool_run(live::Aggregator& aggregator, const http::Request& request,
                             const std::string& run);
void tell_outcome(live::Aggregator& aggregator, const http::Request& request,
                  const std::string& job, const http::Reply& reply);

}  // namespace l4::api
