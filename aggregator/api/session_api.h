// Signing in once: who asks, and the session that stands for a token in a browser.
//
// Flow: routes.cc -> here -> Response; the guard before it (http/tokens.h) begins and ends sessions
// and adds their cookie. Thread-safe, no state.
#pragma once

#include "aggregator/api/route_call.h"

namespace l4::api {

/// Who asks, and whether they may change things; the same for POST and DELETE, which begin and end
/// a session where tokens are asked for, and do nothing where none are.
http::Response show_session(const RouteCall& call);

}  // namespace l4::api
