#include "common/http/client.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <string>

#include "common/http/url.h"
#include "tests/common/http/raw_socket.h"

namespace l4::http {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::RawServer;

std::string address(std::uint16_t port, const char* path = "/") {
  return fmt::format("http://127.0.0.1:{}{}", port, path);
}

/// A port that was just free, so that nothing listens there.
std::uint16_t dead_port() {
  RawServer server("");
  const std::uint16_t port = server.port();
  test::RawClient(port).close();
  return port;
}

TEST_CASE("client: asks and gets status, type and body") {
  RawServer server(
      "HTTP/1.1 404 Not Found\r\nContent-Type: text/x\r\nContent-Length: 5\r\n\r\nhello");
  const auto response = get(address(server.port(), "/a/b?c=%20"));
  REQUIRE(response);
  CHECK(response->status == 404);
  CHECK(response->content_type == "text/x");
  CHECK(response->body == "hello");
  const std::string request = server.request();
  CHECK(request.starts_with("GET /a/b?c=%20 HTTP/1.1\r\n"));
  CHECK(request.find(fmt::format("Host: 127.0.0.1:{}\r\n", server.port())) != std::string::npos);
}

TEST_CASE("client: reads chunks, an answer that ends with the connection, and one after 100") {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  for (const std::string& rest :
       {std::string("Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"),
        std::string("\r\nabc"), std::string("Content-Length: 3\r\n\r\nabc")}) {
    RawServer server("HTTP/1.1 100 Continue\r\n\r\n" + head + rest);
    const auto response = get(address(server.port()));
    REQUIRE(response);
    CHECK(response->status == 200);
    CHECK(response->body == "abc");
  }
}

TEST_CASE("client: posts a body with its type") {
  RawServer server("HTTP/1.1 204 No Content\r\n\r\n");
  const auto response = post(address(server.port(), "/hook"), "application/json", "{}");
  REQUIRE(response);
  CHECK(response->status == 204);
  const std::string request = server.request();
  CHECK(request.starts_with("POST /hook HTTP/1.1\r\n"));
  CHECK(request.find("Content-Type: application/json\r\n") != std::string::npos);
  CHECK(request.find("Content-Length: 2\r\n") != std::string::npos);
}

TEST_CASE("client: says what is wrong and where") {
  struct Row {
    std::string answer;
    const char* reason;
  };
  std::string many = "HTTP/1.1 200 OK\r\n";
  while (many.size() < 100'000) many += "X: y\r\n";
  const std::array<Row, 7> rows{{
      {"", "closed the connection without an answer"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
       "closed the connection in the middle of its answer"},
      {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "what answers there does not speak HTTP"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + std::string(2000, 'x'),
       "the answer is larger than 1000 bytes"},
      {"HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x'),
       "the header of the answer is larger than"},
      {many, "the header of the answer is larger than"},
      {"HTTP/1.1 200 OK\r\n\r\n" + std::string(2000, 'x'), "the answer is larger than 1000 bytes"},
  }};
  for (const Row& row : rows) {
    RawServer server(row.answer);
    const auto response = get(address(server.port()), {.timeout = 5s, .body_max = 1000});
    INFO(std::string(row.reason));
    REQUIRE_FALSE(response);
    CHECK(response.error().where == fmt::format("127.0.0.1:{}", server.port()));
    CHECK(response.error().reason.starts_with(row.reason));
  }
}

TEST_CASE("client: nobody there, no such host, no address") {
  const std::uint16_t port = dead_port();
  const auto refused = get(address(port));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() == fmt::format("127.0.0.1:{}: connection refused", port));
  const auto unknown = get("http://no-such-host.invalid:7440/", {.timeout = 20s});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().where == "no-such-host.invalid:7440");
  CHECK_FALSE(get("127.0.0.1:7440"));
}

TEST_CASE("client: the deadline covers an answer that never comes, or never ends") {
  for (const char* answer : {"", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"}) {
    RawServer server(answer, 5s);
    const auto began = Clock::now();
    const auto response = get(address(server.port()), {.timeout = 300ms});
    CHECK(Clock::now() - began < 3s);
    REQUIRE_FALSE(response);
    CHECK(response.error().reason == "no answer within 300 ms");
  }
}

}  // namespace
}  // namespace l4::http
