#include "aggregator/api/parameters.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/api/routes.h"

namespace l4::api {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

std::string refused(std::string_view route, Query query) {
  const auto row = std::ranges::find(routes(), route, &RouteRow::name);
  REQUIRE(row != routes().end());
  http::Request request;
  request.path = "/api/v1/list";
  request.query = std::move(query);
  const auto response = refused_parameter(row->parameters, request);
  if (!response) return "";
  CHECK(response->status == 400);
  return response->body;
}

TEST_CASE("parameters: what a route knows, with a value that it may have, passes") {
  CHECK(refused("incidents", {}).empty());
  CHECK(refused("incidents",
                {{"open", "false"}, {"job", "true"}, {"count", "1000"}, {"after", "1.x"}})
            .empty());
  CHECK(refused("faults", {{"format", "toml"}, {"whole", "true"}}).empty());
  CHECK(refused("lines", {{"rank", "anything: the handler says"}}).empty());
}

TEST_CASE("parameters: what is refused is named, and what may have been meant") {
  struct Row {
    const char* route;
    Query query;
    const char* said;
  };
  for (const Row& row : std::vector<Row>{
           {"incidents", {{"opne", "true"}}, "did you mean open?"},
           {"incidents", {{"frobnicate", "1"}}, "it has job, fault, node, open, count, after"},
           {"healthz", {{"x", "1"}}, "'x' is no parameter of /api/v1/list, which has none"},
           {"incidents", {{"", ""}}, "'' is no parameter"},
           {"incidents", {{"open", "yes"}}, "open must be true or false, not 'yes'"},
           {"incidents", {{"open", ""}}, "open must be true or false"},
           {"incidents", {{"job", ""}}, "job must be something"},
           {"jobs", {{"count", "0"}}, "count must be a number from 1 to 1000"},
           {"jobs", {{"count", "1001"}}, "count must be"},
           {"jobs", {{"count", "-1"}}, "count must be"},
           {"jobs", {{"count", "1x"}}, "count must be"},
           {"jobs", {{"count", "99999999999999999999"}}, "count must be"},
           {"scores", {{"rows", "4097"}}, "rows must be a number from 1 to 4096"},
           {"faults", {{"format", "yaml"}}, "format must be json or toml"},
           {"jobs", {{"count", "1"}, {"count", "2"}}, "count is there twice"},
           {"jobs", {{std::string(9'000, 'c'), "1"}}, "it has count, after"}}) {
    CAPTURE(row.said);
    const std::string body = refused(row.route, row.query);
    CHECK(body.find(row.said) != std::string::npos);
    CHECK(body.size() < 500);
  }
}

}  // namespace
}  // namespace l4::api
