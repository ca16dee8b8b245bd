#include "aggregator/http/shared_answers.h"

#include <doctest/doctest.h>

#include <thread>

namespace l4::http {
namespace {

bool is_shared(const Request& request) {
  return request.path == "/api/v1/agents" || request.path.starts_with("/api/v1/jobs");
}

/// A handler whose answers the test gives, and its waiting requests.
struct World {
  std::vector<Reply> made;
  std::vector<Response> got;
  Handler handler;
  explicit World(Millis fresh) {
    handler = share_answers([this](const Request&, const Reply& reply) { made.push_back(reply); },
                            is_shared, fresh);
  }
  void ask(const std::string& path, const std::string& method = "GET",
           std::vector<std::pair<std::string, std::string>> query = {}) {
    Request request;
    request.method = method;
    request.path = path;
    for (std::size_t at = 1; at < path.size(); at = path.find('/', at) + 1) {
      request.segments.push_back(path.substr(at, path.find('/', at) - at));
      if (path.find('/', at) == std::string::npos) break;
    }
    request.query = std::move(query);
    handler(request, [this](Response response) { got.push_back(std::move(response)); });
  }
};

TEST_CASE("shared answers: who asks what is being answered waits for it, and it serves again") {
  World world(Millis{60'000});
  world.ask("/api/v1/jobs");
  world.ask("/api/v1/jobs");
  world.ask("/api/v1/jobs", "GET", {{"count", "1"}});
  REQUIRE(world.made.size() == 2);
  CHECK(world.got.empty());
  world.made[0]({200, "application/json", "all"});
  REQUIRE(world.got.size() == 2);
  CHECK(world.got[1].body == "all");
  world.made[0]({200, "application/json", "again"});  // a second call says nothing
  CHECK(world.got.size() == 2);
  world.ask("/api/v1/jobs");
  REQUIRE(world.got.size() == 3);
  CHECK(world.got[2].body == "all");
  CHECK(world.made.size() == 2);
  world.made[1]({200, "application/json", "one"});
  CHECK(world.got.back().body == "one");
}

TEST_CASE("shared answers: who may see other jobs gets another answer") {
  World world(Millis{60'000});
  Request request;
  request.method = "GET";
  request.path = "/api/v1/jobs";
  std::vector<std::string> got;
  for (const char* jobs : {"", "a-*", "b-*", "a-*"}) {
    request.jobs = *jobs == '\0' ? JobLimit() : JobLimit::parse(jobs).value();
    world.handler(request, [&](const Response& response) { got.push_back(response.body); });
  }
  REQUIRE(world.made.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) world.made[i]({200, "text/plain", std::to_string(i)});
  CHECK(got == std::vector<std::string>{"0", "1", "1", "2"});
}

TEST_CASE(
    "shared answers: what is old is asked anew, an error is not kept, a change goes through") {
  World world(Millis{1});
  world.ask("/api/v1/agents");
  world.made[0]({200, "application/json", "old"});
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  world.ask("/api/v1/agents");
  CHECK(world.made.size() == 2);

  World lasting(Millis{60'000});
  lasting.ask("/api/v1/jobs/a/snapshot");
  lasting.ask("/api/v1/jobs/a/snapshot");
  lasting.made[0]({503, "application/json", "busy"});
  CHECK(lasting.got.size() == 2);
  lasting.ask("/api/v1/jobs/a/snapshot");
  CHECK(lasting.made.size() == 2);
  lasting.ask("/api/v1/faults", "POST");
  lasting.ask("/api/v1/faults", "POST");
  lasting.ask("/api/v1/incidents");
  lasting.ask("/api/v1/incidents");
  lasting.ask("/no/such/path");
  CHECK(lasting.made.size() == 7);
}

TEST_CASE("shared answers: one that nobody waits for any more need not be made, and is made anew") {
  std::vector<Request> asked;
  std::vector<Reply> made;
  int got = 0;
  const Handler handler = share_answers(
      [&](const Request& request, Reply reply) {
        asked.push_back(request);
        made.push_back(std::move(reply));
      },
      is_shared);
  std::vector<std::stop_source> clients(4);
  const auto ask = [&](std::size_t client) {
    Request request;
    request.method = "GET";
    request.path = "/api/v1/jobs";
    request.segments = {"api", "v1", "jobs"};
    request.left = clients[client].get_token();
    handler(request, [&](const Response&) { ++got; });
  };
  ask(0);
  ask(1);
  REQUIRE(asked.size() == 1);
  clients[0].request_stop();
  CHECK_FALSE(asked[0].left.stop_requested());
  ask(2);
  clients[1].request_stop();
  CHECK_FALSE(asked[0].left.stop_requested());
  clients[2].request_stop();
  CHECK(asked[0].left.stop_requested());
  ask(3);
  REQUIRE(asked.size() == 2);
  CHECK_FALSE(asked[1].left.stop_requested());
  made[0]({503, "application/json", "given up"});
  CHECK(got == 3);
  made[1]({200, "application/json", "all"});
  CHECK(got == 4);
}

TEST_CASE("shared answers: an answer that is never made keeps nobody waiting") {
  const auto alive = std::make_shared<int>(1);
  std::vector<Reply> made;
  const Handler handler =
      share_answers([&](const Request&, const Reply& reply) { made.push_back(reply); }, is_shared);
  Request request;
  request.method = "GET";
  request.path = "/api/v1/jobs";
  request.segments = {"api", "v1", "jobs"};
  handler(request, [alive](const Response&) {});
  handler(request, [alive](const Response&) {});
  CHECK(alive.use_count() > 1);
  made.clear();
  CHECK(alive.use_count() == 1);  // the server sees that the last copy is gone
  handler(request, [alive](const Response&) {});
  CHECK(made.size() == 1);
}

}  // namespace
}  // namespace l4::http
