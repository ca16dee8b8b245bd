// Arguments of a route's handler.
// Flow: make_handler (api.h) fills it for each request and calls the handler of the route's row
// (routes.h). It is valid during that call; a handler that answers later copies what it needs.
// Nothing may wait in a handler: it runs on the server's thread.
#pragma once

#include <memory>
#include <string>

#include "aggregator/http/server.h"
#include "aggregator/live/aggregator.h"

namespace l4::api {

struct RouteCall {
  live::Aggregator& aggregator;
  const http::Request& request;
  const http::Reply& reply;
  const std::string& id;  ///< stands for {id} in the pattern; empty if that has none
  const std::shared_ptr<const http::Counters>& counters;  ///< the server's; may be null
};

}  // namespace l4::api
