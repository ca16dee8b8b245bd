#include "aggregator/http/routes.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "aggregator/http/target.h"

namespace l4::http {
namespace {

Request ask(const char* method, std::string_view path) {
  auto target = read_target(path);
  REQUIRE(target);
  Request request;
  request.method = method;
  request.path = target->path;
  request.segments = target->segments;
  return request;
}

TEST_CASE("routes: each is found under its pattern") {
  struct Row {
    const char* path;
    Route route;
    std::vector<std::string> arguments;
  };
  const std::array<Row, 14> rows{{
      {"/api/v1/jobs", Route::jobs, {}},
      {"/api/v1/jobs/j-1", Route::job, {"j-1"}},
      {"/api/v1/jobs/j-1/nodes", Route::nodes, {"j-1"}},
      {"/api/v1/jobs/j-1/iterations", Route::iterations, {"j-1"}},
      {"/api/v1/incidents/j-1.0.1779984191", Route::incident, {"j-1.0.1779984191"}},
      {"/api/v1/faults", Route::faults, {}},
      {"/api/v1/faults/xid_79", Route::fault, {"xid_79"}},
      {"/readyz", Route::readyz, {}},
      {"/api/v1/jobs/j-1/snapshot", Route::snapshot, {"j-1"}},
      {"/api/v1/jobs/a%2Fb%20c/snapshot", Route::snapshot, {"a/b c"}},
      {"/api/v1/agents", Route::agents, {}},
      {"/api/v1/incidents", Route::incidents, {}},
      {"/healthz", Route::healthz, {}},
      {"/metrics", Route::metrics, {}},
  }};
  for (const Row& row : rows) {
    INFO(std::string(row.path));
    const auto found = match(ask("GET", row.path));
    REQUIRE(found);
    CHECK(found->route == row.route);
    CHECK(found->arguments == row.arguments);
  }
  for (std::size_t i = 0; i < kRoutes.size(); ++i)
    CHECK(static_cast<std::size_t>(kRoutes[i].route) == i);
}

TEST_CASE("routes: 404 and 405 say what is wrong") {
  for (const char* path :
       {"/", "/api", "/api/v1/jobs/", "/api/v1/jobs/x/y", "/api/v1/jobs//snapshot",
        "/api/v1/jobs/x/snapshot/y", "/metrics/", "/Healthz", "//healthz"}) {
    INFO(std::string(path));
    const auto found = match(ask("GET", path));
    REQUIRE_FALSE(found);
    CHECK(found.error().status == 404);
  }
  const auto posted = match(ask("POST", "/api/v1/jobs"));
  REQUIRE_FALSE(posted);
  CHECK(posted.error().status == 405);
  CHECK(posted.error().body.find("method_not_allowed") != std::string::npos);
}

TEST_CASE("error response: anybody's text stays one JSON string") {
  const Response response = error_response(400, "bad_request", "a \"b\" \\ \n \x1b[2J \xff");
  CHECK(response.body ==
        "{\"error\": {\"code\": \"bad_request\", \"message\": "
        "\"a \\\"b\\\" \\\\   \u241b[2J \uFFFD\"}}\n");
  CHECK(response.status == 400);
  CHECK(response.content_type == "application/json");
}

}  // namespace
}  // namespace l4::http
