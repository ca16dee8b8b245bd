#include "aggregator/http/parameters.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace l4::http {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

std::string refused(Route route, Query query) {
  Request request;
  request.path = "/api/v1/list";
  request.query = std::move(query);
  const auto response = refused_parameter(route, request);
  if (!response) return "";
  CHECK(response->status == 400);
  return response->body;
}

TEST_CASE("parameters: what a route knows, with a value that it may have, passes") {
  CHECK(refused(Route::incidents, {}).empty());
  CHECK(refused(Route::incidents,
                {{"open", "false"}, {"job", "true"}, {"count", "1000"}, {"after", "1.x"}})
            .empty());
  CHECK(refused(Route::faults, {{"format", "toml"}, {"whole", "true"}}).empty());
  CHECK(refused(Route::lines, {{"rank", "anything: the handler says"}}).empty());
}

TEST_CASE("parameters: what is refused is named, and what may have been meant") {
  struct Row {
    Route route;
    Query query;
    const char* said;
  };
  for (const Row& row : std::vector<Row>{
           {Route::incidents, {{"opne", "true"}}, "did you mean open?"},
           {Route::incidents, {{"frobnicate", "1"}}, "it has job, open, count, after"},
           {Route::healthz, {{"x", "1"}}, "'x' is no parameter of /api/v1/list, which has none"},
           {Route::incidents, {{"", ""}}, "'' is no parameter"},
           {Route::incidents, {{"open", "yes"}}, "open must be true or false, not 'yes'"},
           {Route::incidents, {{"open", ""}}, "open must be true or false"},
           {Route::incidents, {{"job", ""}}, "job must be something"},
           {Route::jobs, {{"count", "0"}}, "count must be a number from 1 to 1000"},
           {Route::jobs, {{"count", "1001"}}, "count must be"},
           {Route::jobs, {{"count", "-1"}}, "count must be"},
           {Route::jobs, {{"count", "1x"}}, "count must be"},
           {Route::jobs, {{"count", "99999999999999999999"}}, "count must be"},
           {Route::faults, {{"format", "yaml"}}, "format must be json or toml"},
           {Route::jobs, {{"count", "1"}, {"count", "2"}}, "count is there twice"},
           {Route::jobs, {{std::string(9'000, 'c'), "1"}}, "it has count, after"}}) {
    CAPTURE(row.said);
    const std::string body = refused(row.route, row.query);
    CHECK(body.find(row.said) != std::string::npos);
    CHECK(body.size() < 500);
  }
}

}  // namespace
}  // namespace l4::http
