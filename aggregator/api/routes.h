// The routes of the aggregator's HTTP interface: one table for the router, for the checks before
// it, for the tests and for the documents.
//
// Flow: http::Server -> tokens and shared answers, which ask need_of and is_shared -> match_route
// -> refused_parameter -> the handler of the row -> Reply. The table stands in routes.cc;
// tests/openapi_test.py compares it with schemas/openapi.yaml and docs/API.md. Thread-safe,
// no state.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "aggregator/api/parameters.h"
#include "aggregator/api/route_call.h"
#include "aggregator/http/tokens.h"

namespace l4::api {

/// Whether requests that are under way at the same time get the same answer.
enum class Sharing : std::uint8_t { single, shared };

/// What a route shows or changes; so what a token that is limited to jobs may do with it.
enum class Reach : std::uint8_t {
  site,  ///< the whole site: such a token gets 403
  job,   ///< the job {id}: such a token gets 404 for another job, as if there were none
  rows,  ///< several jobs: the handler keeps to those of Request::jobs
  none,  ///< nothing of any job
};

struct RouteRow {
  std::string_view name;     ///< operationId in openapi.yaml
  std::string_view method;   ///< GET serves HEAD, too; other methods change something
  std::string_view pattern;  ///< {id} stands for one segment that is not empty
  std::string_view what;
  http::Access access;  ///< who may ask
  Reach reach;
  Sharing sharing;
  std::span<const ParameterRow> parameters;
  void (*handler)(const RouteCall& call);
};

std::span<const RouteRow> routes();

struct RouteMatch {
  const RouteRow* route = nullptr;
  std::string id;  ///< stands for {id}
};

/// The row of the request. Otherwise the answer: 405 if the path has another method, else 404.
std::expected<RouteMatch, http::Response> match_route(const http::Request& request);

/// What the route needs. If no row has this method and path: open if the path is open, else read
/// for GET and change for other methods, of any jobs.
http::Need need_of(const http::Request& request);

bool is_shared(const http::Request& request);

}  // namespace l4::api
