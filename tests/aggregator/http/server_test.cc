#include "aggregator/http/server.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/http/client.h"
#include "tests/aggregator/http/soon.h"
#include "tests/common/http/raw_socket.h"

namespace l4::http {
namespace {

// A named constant, because clang-tidy takes a literal length for a mistake.
constexpr std::size_t kTwentyMillion = 20'000'000;

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::RawClient;
using test::soon;

std::string request_for(const char* path, const char* more = "") {
  return fmt::format("GET {} HTTP/1.1\r\nHost: a\r\n{}\r\n", path, more);
}

std::unique_ptr<Server> start(Handler handler, ServerOptions options = {}) {
  options.port = 0;
  auto server = Server::start(std::move(options), std::move(handler));
  REQUIRE(server);
  return std::move(*server);
}

/// Answers with the request.
void echo(const Request& request, const Reply& reply) {
  std::string body = request.method + " " + request.path;
  for (const auto& [key, value] : request.query) body += fmt::format(" {}={}", key, value);
  reply({200, "text/plain", body + " " + request.body});
}

Result<ClientResponse> fetch(const Server& server, const char* path) {
  return get(fmt::format("http://127.0.0.1:{}{}", server.port(), path),
             ClientOptions{.timeout = 10s});
}

/// Keeps the replies it is given, for another thread to use.
class Keeper {
 public:
  Handler handler() {
    return [this](const Request&, Reply reply) {
      const std::lock_guard lock(mutex_);
      replies_.push_back(std::move(reply));
    };
  }
  bool has(std::size_t count) {
    const std::lock_guard lock(mutex_);
    return replies_.size() >= count;
  }
  std::vector<Reply> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(replies_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Reply> replies_;
};

TEST_CASE("http server: GET, POST and HEAD") {
  const auto server = start(echo);
  const auto got = fetch(*server, "/a%20b/c?x=1&y=%C3%A4");
  REQUIRE(got);
  CHECK(got->status == 200);
  CHECK(got->content_type == "text/plain");
  CHECK(got->body == "GET /a b/c x=1 y=ä ");
  const auto posted = post(fmt::format("http://127.0.0.1:{}/p", server->port()), "text/plain", "12",
                           {.timeout = 10s});
  REQUIRE(posted);
  CHECK(posted->body == "POST /p 12");

  RawClient client(server->port());
  client.send("HEAD /h HTTP/1.1\r\nHost: a\r\n\r\n" + request_for("/i", "Connection: close\r\n"));
  const std::string both = client.receive(100'000);
  CHECK(both.find("Content-Length: 7\r\n") != std::string::npos);
  CHECK(both.find("\r\n\r\nHTTP/1.1 200") != std::string::npos);  // no body between the two answers
  CHECK(both.ends_with("GET /i "));
  CHECK(server->counts().requests == 4);
}

TEST_CASE("http server: a taken or senseless address is an error") {
  const auto server = start(echo);
  const auto taken = Server::start({.port = server->port()}, echo);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().where == fmt::format("127.0.0.1:{}", server->port()));
  CHECK(taken.error().reason.find("in use") != std::string::npos);
  CHECK_FALSE(Server::start({.address = "nowhere", .port = 0}, echo));
}

TEST_CASE("http server: a connection serves many requests, also sent at once") {
  const auto server = start(echo);
  RawClient client(server->port());
  std::string all;
  for (int i = 0; i < 200; ++i) all += request_for(fmt::format("/n{}", i).c_str());
  std::jthread sender([&] { client.send(all); });
  const std::string answers = client.receive_until("GET /n199 ");
  std::size_t at = 0;
  for (int i = 0; i < 200; ++i) {
    const std::size_t next = answers.find(fmt::format("GET /n{}", i), at);
    REQUIRE(next != std::string::npos);
    at = next;
  }
  CHECK(server->counts().connections == 1);
}

TEST_CASE("http server: what is no request is answered and ends") {
  const auto server = start(echo, {.header_bytes_max = 2000, .body_bytes_max = 1000});
  struct Row {
    std::string request;
    const char* answer;
  };
  const std::string tls_hello{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01};  // as it begins
  std::string trailers;
  for (int i = 0; i < 2000; ++i) trailers += "X: y\r\n";
  const std::vector<Row> rows{
      {std::string(1, '\0') + "\x01\xff\xfe garbage \r\n\r\n", "HTTP/1.1 400"},
      {tls_hello + "\xfc\x03\x03\r\n\r\n", "HTTP/1.1 400"},
      {"GET / HTTP/9.9\r\nHost: a\r\n\r\n", "HTTP/1.1 400"},
      {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
      {request_for("/a%00"), "HTTP/1.1 400"},
      {request_for("/../etc/passwd"), "HTTP/1.1 400"},
      {request_for("/", "Content-Length: 1\r\nContent-Length: 2\r\n"), "HTTP/1.1 400"},
      {"PATCH / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 405"},
      {request_for("/", "Content-Length: 1001\r\n"), "HTTP/1.1 413"},
      {request_for("/", "Content-Length: 1001\r\n") + std::string(1001, 'x'), "HTTP/1.1 413"},
      {request_for("/", "Transfer-Encoding: chunked\r\n") + "0\r\n" + trailers, "HTTP/1.1 431"},
      {request_for("/", "Transfer-Encoding: chunked\r\n") + "3e9\r\n" + std::string(1001, 'x'),
       "HTTP/1.1 413"},
      {request_for("/", ("X: " + std::string(2000, 'x') + "\r\n").c_str()), "HTTP/1.1 431"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.request.substr(0, 60));
    RawClient client(server->port());
    client.send(row.request);
    const std::string answer = client.receive(100'000);  // until the server closes
    CHECK(answer.substr(0, 12) == row.answer);
    CHECK(answer.find("{\"error\": {\"code\": \"") != std::string::npos);
  }
  CHECK(server->counts().refused() == rows.size());
  CHECK(server->counts().requests == 0);
  CHECK(fetch(*server, "/")->status == 200);
}

TEST_CASE("http server: a body that is announced is asked for, in one piece or in chunks") {
  const auto server = start(echo);
  for (const char* how : {"Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n"}) {
    RawClient client(server->port());
    client.send(fmt::format("POST /p HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n{}\r\n", how));
    CHECK(client.receive_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(how[0] == 'C' ? "abc" : "1\r\na\r\n2\r\nbc\r\n0\r\nTrailer: x\r\n\r\n");
    CHECK(client.receive_until("POST /p abc").find("200 OK") != std::string::npos);
  }
}

TEST_CASE("http server: a header of 10 MB is refused, and little of it kept") {
  const auto server = start(echo);
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  while (many.size() < 10'000'000) many += "X: y\r\n";
  for (const std::string& header :
       {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(kTwentyMillion / 2, 'x'), many}) {
    RawClient client(server->port());
    client.send(header);
    CHECK(client.receive(12) == "HTTP/1.1 431");
  }
  CHECK(fetch(*server, "/")->status == 200);
}

TEST_CASE("http server: who drips, says nothing, or never reads is given up") {
  ServerOptions options;
  options.read = 400ms;
  options.idle = 400ms;
  options.write = 400ms;
  const auto server = start(
      [](const Request&, const Reply& reply) {
        reply({200, "text/plain", std::string(kTwentyMillion, 'x')});
      },
      options);
  RawClient silent(server->port()), header(server->port()), body(server->port()),
      deaf(server->port());
  deaf.set_receive_buffer(4096);
  deaf.send(request_for("/"));
  std::jthread dripper([&](const std::stop_token& stop) {
    body.send(request_for("/", "Content-Length: 1000\r\n"));
    header.send("GET / HTTP/1.1\r\n");
    while (!stop.stop_requested()) {
      header.send("X");
      body.send("x");
      std::this_thread::sleep_for(20ms);
    }
  });
  CHECK(silent.is_closed_within(8s));
  CHECK(header.is_closed_within(8s));
  CHECK(soon([&] { return server->counts().timed_out >= 3; }));
  CHECK(soon([&] { return server->counts().open == 0; }));
}

TEST_CASE("http server: with all connections taken, honest clients get through") {
  ServerOptions options;
  options.connections_max = 64;
  const auto server = start(echo, options);
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 300; ++i) {
    idle.push_back(std::make_unique<RawClient>(server->port()));
    idle.back()->send("GET / HT");
  }
  for (int i = 0; i < 20; ++i) {
    const auto response = fetch(*server, "/x");
    REQUIRE(response);
    CHECK(response->body == "GET /x ");
  }
  CHECK(server->counts().open <= 64);
  CHECK(server->counts().evicted >= 236);
  CHECK(server->counts().connections == 320);
}

TEST_CASE("http server: clients that never read keep nobody out") {
  ServerOptions options;
  options.connections_max = 4;
  const auto server = start(
      [](const Request& request, const Reply& reply) {
        reply({200, "text/plain", request.path == "/big" ? std::string(kTwentyMillion, 'x') : "x"});
      },
      options);
  std::vector<std::unique_ptr<RawClient>> deaf;
  for (int i = 0; i < 6; ++i) {
    deaf.push_back(std::make_unique<RawClient>(server->port()));
    deaf.back()->set_receive_buffer(4096);
    deaf.back()->send(request_for("/big"));
    CHECK(deaf.back()->receive(12) == "HTTP/1.1 200");
  }
  for (int i = 0; i < 4; ++i) {
    const auto response = fetch(*server, "/");
    REQUIRE(response);
    CHECK(response->body == "x");
  }
}

TEST_CASE("http server: replies come late, from any thread, and once") {
  Keeper keeper;
  const auto server = start(keeper.handler());
  RawClient client(server->port());
  client.send(request_for("/"));
  REQUIRE(soon([&] { return keeper.has(1); }));
  CHECK(server->counts().in_flight == 1);
  std::jthread other([replies = keeper.take()] {
    replies[0]({200, "text/plain", "first"});
    replies[0]({200, "text/plain", "second"});
  });
  CHECK(client.receive_until("first").find("200 OK") != std::string::npos);
  client.send(request_for("/"));
  REQUIRE(soon([&] { return keeper.has(1); }));
  keeper.take();  // dropped
  CHECK(client.receive_until("no_answer").find("500 Internal") != std::string::npos);
  CHECK(server->counts().in_flight == 0);
}

TEST_CASE("http server: a handler that throws, or takes too long") {
  ServerOptions options;
  options.answer = 100ms;
  Keeper keeper;
  const auto server = start(
      [&, keep = keeper.handler()](const Request& request, Reply reply) {
        if (request.path == "/throw") throw std::runtime_error("out of luck");
        keep(request, std::move(reply));
      },
      options);
  const auto thrown = fetch(*server, "/throw");
  REQUIRE(thrown);
  CHECK(thrown->status == 500);
  CHECK(thrown->body.find("out of luck") != std::string::npos);
  RawClient client(server->port());
  client.send(request_for("/"));
  CHECK(client.receive_until("too_late").find("504") != std::string::npos);
  for (const Reply& late : keeper.take()) late({200, "text/plain", "late"});
  client.send(request_for("/throw"));
  CHECK(client.receive_until("out of luck").find("late") == std::string::npos);
}

TEST_CASE("http server: whose client has gone, or was answered late, is told so") {
  ServerOptions options;
  Keeper keeper;
  std::mutex mutex;
  std::vector<std::stop_token> left;
  const auto handler = [&, keep = keeper.handler()](const Request& request, Reply reply) {
    const std::lock_guard lock(mutex);
    left.push_back(request.left);
    keep(request, std::move(reply));
  };
  const auto has_left = [&](std::size_t which) {
    const std::lock_guard lock(mutex);
    return left.at(which).stop_requested();
  };
  for (const bool goes : {true, false}) {
    CAPTURE(goes);
    left.clear();
    keeper.take();
    options.answer = goes ? 60s : 100ms;
    const auto server = start(handler, options);
    auto client = std::make_unique<RawClient>(server->port());
    RawClient stays(server->port());
    client->send(request_for("/") + "unread");
    REQUIRE(soon([&] { return keeper.has(1); }));
    if (goes) stays.send(request_for("/"));
    REQUIRE(soon([&] { return keeper.has(goes ? 2 : 1); }));
    CHECK_FALSE(has_left(0));
    if (goes) client.reset();
    CHECK(soon([&] { return has_left(0); }));
    if (!goes) continue;
    CHECK(server->counts().in_flight == 1);
    CHECK_FALSE(has_left(1));
    keeper.take().at(1)({200, "text/plain", "here"});
    CHECK(stays.receive_until("here").find("200 OK") != std::string::npos);
  }
}

TEST_CASE("http server: requests and bytes in flight are bounded") {
  ServerOptions options;
  options.in_flight_max = 2;
  options.response_bytes_max = 1100;
  Keeper keeper;
  const auto server = start(keeper.handler(), options);
  RawClient one(server->port()), two(server->port());
  one.send(request_for("/"));
  two.send(request_for("/"));
  REQUIRE(soon([&] { return keeper.has(2); }));
  CHECK(fetch(*server, "/")->status == 503);
  const auto replies = keeper.take();
  replies[0]({200, "text/plain", std::string(1101, 'x')});
  CHECK(one.receive_until("busy").starts_with("HTTP/1.1 503"));
  replies[1]({200, "text/plain", std::string(1000, 'x')});
  CHECK(two.receive(12) == "HTTP/1.1 200");
}

TEST_CASE("http server: stops with requests and connections of every kind open") {
  Keeper keeper;
  ServerOptions options;
  auto server = start(
      [&, keep = keeper.handler()](const Request& request, Reply reply) {
        if (request.path == "/big")
          return reply({200, "text/plain", std::string(kTwentyMillion, 'x')});
        keep(request, std::move(reply));
      },
      options);
  RawClient silent(server->port()), half(server->port()), waits(server->port()),
      deaf(server->port());
  half.send("GET / HTTP/1.1\r\nHo");
  deaf.send(request_for("/big"));
  waits.send(request_for("/"));
  REQUIRE(soon([&] { return keeper.has(1) && server->counts().requests == 2; }));
  const auto began = Clock::now();
  server.reset();
  CHECK(Clock::now() - began < 2s);
  CHECK(waits.is_closed_within(5s));
  CHECK(silent.is_closed_within(5s));
  for (const Reply& late : keeper.take()) late({200, "text/plain", "late"});  // no client
}

}  // namespace
}  // namespace l4::http
