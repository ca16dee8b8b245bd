// The page for browsers: which addresses it has, and what is sent for them.
//
// Flow: http::Server -> with_page -> the guarded handler of the interface (api/api.h) for all other
// addresses. The page is the same for everybody and holds no data, so it needs no token; its script
// asks the interface for data and shows them. Thread-safe, no state; nothing waits.
#pragma once

#include "aggregator/http/server.h"

namespace l4::page {

/// Answers GET of the page's addresses and of its assets; all other requests go to `inner`.
http::Handler with_page(http::Handler inner);

}  // namespace l4::page
