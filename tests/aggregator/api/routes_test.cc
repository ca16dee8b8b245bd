#include "aggregator/api/routes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>

#include "aggregator/http/target.h"

namespace l4::api {
namespace {

using http::Access;
using http::Request;
using http::Response;

Request ask(const char* method, std::string_view path) {
  auto target = http::read_target(path);
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
    std::string_view route, id;
  };
  const std::array<Row, 14> rows{{
      {"/api/v1/jobs", "jobs", ""},
      {"/api/v1/jobs/j-1", "job", "j-1"},
      {"/api/v1/jobs/j-1/nodes", "nodes", "j-1"},
      {"/api/v1/jobs/j-1/iterations", "iterations", "j-1"},
      {"/api/v1/incidents/j-1.0.1779984191", "incident", "j-1.0.1779984191"},
      {"/api/v1/faults", "faults", ""},
      {"/api/v1/faults/xid_79", "fault", "xid_79"},
      {"/readyz", "readyz", ""},
      {"/api/v1/jobs/j-1/snapshot", "snapshot", "j-1"},
      {"/api/v1/jobs/a%2Fb%20c/snapshot", "snapshot", "a/b c"},
      {"/api/v1/agents", "agents", ""},
      {"/api/v1/incidents", "incidents", ""},
      {"/healthz", "healthz", ""},
      {"/metrics", "metrics", ""},
  }};
  for (const Row& row : rows) {
    INFO(std::string(row.path));
    const auto found = match_route(ask("GET", row.path));
    REQUIRE(found);
    CHECK(found->route->name == row.route);
    CHECK(found->id == row.id);
  }
  for (const RouteRow& row : routes()) {
    CAPTURE(row.name);
    const bool has_handler = row.handler != nullptr;
    CHECK(has_handler);
    // Signing in and out changes nothing but the cookie.
    const bool signs = row.pattern == "/api/v1/session";
    CHECK((row.access == Access::change) == (row.method != "GET" && !signs));
    CHECK((row.sharing == Sharing::single || row.method == "GET"));
    CHECK(std::ranges::count(routes(), row.name, &RouteRow::name) == 1);
  }
}

TEST_CASE("routes: 404 and 405 say what is wrong") {
  for (const char* path :
       {"/", "/api", "/api/v1/jobs/", "/api/v1/jobs/x/y", "/api/v1/jobs//snapshot",
        "/api/v1/jobs/x/snapshot/y", "/metrics/", "/Healthz", "//healthz"}) {
    INFO(std::string(path));
    const auto found = match_route(ask("GET", path));
    REQUIRE_FALSE(found);
    CHECK(found.error().status == 404);
  }
  const auto posted = match_route(ask("POST", "/api/v1/jobs"));
  REQUIRE_FALSE(posted);
  CHECK(posted.error().status == 405);
  CHECK(posted.error().body.find("method_not_allowed") != std::string::npos);
}

TEST_CASE("routes: the access that a request needs, and whose answers are shared") {
  CHECK(need_of(ask("GET", "/healthz")).access == Access::open);
  CHECK(need_of(ask("POST", "/readyz")).access == Access::open);
  CHECK(need_of(ask("GET", "/metrics")).access == Access::read);
  CHECK(need_of(ask("GET", "/api/v1/faults")).access == Access::read);
  CHECK(need_of(ask("POST", "/api/v1/faults")).access == Access::change);
  CHECK(need_of(ask("DELETE", "/api/v1/jobs")).access == Access::change);
  CHECK(need_of(ask("GET", "/healthz/x")).access == Access::read);
  CHECK(is_shared(ask("GET", "/api/v1/jobs/j-1/nodes")));
  CHECK_FALSE(is_shared(ask("GET", "/api/v1/jobs/j-1/lines")));
  CHECK_FALSE(is_shared(ask("GET", "/nothing")));
}

TEST_CASE("routes: what a token that is limited to jobs reaches") {
  CHECK(need_of(ask("GET", "/api/v1/agents")).whole_site);
  CHECK(need_of(ask("GET", "/api/v1/status")).whole_site);
  CHECK_FALSE(need_of(ask("GET", "/api/v1/jobs")).whole_site);
  CHECK_FALSE(need_of(ask("GET", "/nothing")).whole_site);  // 404
  for (const RouteRow& row : routes()) {
    CAPTURE(row.name);
    // What has a job in its path keeps to it before the handler is called.
    CHECK((row.reach == Reach::job) == row.pattern.starts_with("/api/v1/jobs/{id}"));
  }
}

TEST_CASE("error response: anybody's text stays one JSON string") {
  const Response response = http::error_response(400, "bad_request", "a \"b\" \\ \n \x1b[2J \xff");
  CHECK(response.body ==
        "{\"error\": {\"code\": \"bad_request\", \"message\": "
        "\"a \\\"b\\\" \\\\   \u241b[2J \uFFFD\"}}\n");
  CHECK(response.status == 400);
  CHECK(response.content_type == "application/json");
}

}  // namespace
}  // namespace l4::api
