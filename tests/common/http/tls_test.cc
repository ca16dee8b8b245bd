#include "common/http/tls.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/http/event_stream.h"
#include "aggregator/http/server.h"
#include "common/http/client.h"
#include "tests/common/http/certificates.h"
#include "tests/common/http/raw_socket.h"
#include "tests/temp_folder.h"

namespace l4::http {
namespace {

using namespace std::chrono_literals;

TimeMs now() {
  return std::chrono::floor<Millis>(std::chrono::system_clock::now());
}

/// Answers with the length of the body; /events is a stream with one event.
std::unique_ptr<Server> start(const TlsFiles& files, ServerOptions options = {}) {
  options.port = 0;
  options.tls = files;
  auto server = Server::start(std::move(options), [](const Request& request, const Reply& reply) {
    Response response{200, "text/plain", std::to_string(request.body.size())};
    if (request.path == "/events") {
      response.stream = std::make_shared<EventStream>(1'000);
      response.stream->push("data: 1\n\n");
      response.stream->end();
    }
    if (request.path == "/large") response.body.assign(5 << 20, 'x');
    reply(std::move(response));
  });
  REQUIRE(server);
  return std::move(*server);
}

std::string url(const Server& server, const char* path = "/", const char* host = "127.0.0.1") {
  return fmt::format("https://{}:{}{}", host, server.port(), path);
}

TEST_CASE("tls: files are refused by name, and for a reason") {
  const test::TempFolder folder;
  test::Authority ca(folder.path());
  const TlsFiles good = ca.sign("good"), other = ca.sign("other");
  const auto none = folder.file("none.pem", "nothing\n");
  CHECK(server_tls(good, now()));
  struct Row {
    TlsFiles files;
    std::filesystem::path where;
    std::string reason;
  };
  const std::vector<Row> rows{
      {{good.certificate, other.key}, other.key, "is not the key of the certificate in"},
      {{none, good.key}, none, "holds no certificate in PEM form"},
      {{good.certificate, none}, none, "holds no private key in PEM form"},
      {{good.certificate, folder.path()}, folder.path(), "cannot be read"},
      {{folder.path() / "gone", good.key}, folder.path() / "gone", "cannot be read"},
      {ca.sign("old", "IP:127.0.0.1", -200, -100), folder.path() / "old.pem", "has expired at"},
      {ca.sign("new", "IP:127.0.0.1", 100, 200), folder.path() / "new.pem", "is not valid before"},
  };
  for (const Row& row : rows) {
    INFO(row.reason);
    const auto tls = server_tls(row.files, now());
    REQUIRE_FALSE(tls);
    CHECK(tls.error().where == row.where.string());
    CHECK(tls.error().reason.starts_with(row.reason));
  }
  CHECK(server_tls(ca.sign("later", "IP:127.0.0.1", 100, 200), now() + 150s));
  CHECK(client_tls(ca.pem()));
  CHECK_FALSE(client_tls(none));
  CHECK_FALSE(client_tls(folder.path() / "gone"));
}

TEST_CASE("tls: requests, large bodies both ways, and events over it") {
  const test::TempFolder folder;
  test::Authority ca(folder.path());
  const auto server = start(ca.sign("own"));
  const ClientOptions how{.timeout = 10s, .ca = ca.pem()};
  const auto posted =
      post(url(*server), "text/plain", std::string(900'000, 'a'), how);  // two of its limits
  REQUIRE(posted);
  CHECK(posted->body == "900000");
  const auto large = get(url(*server, "/large"), how);
  REQUIRE(large);
  CHECK(large->body.size() == 5 << 20);
  std::string got;
  const auto ended = follow(url(*server, "/events"), how, [&](std::string_view piece) {
    got += piece;
    return true;
  });
  REQUIRE(ended);
  CHECK(got == "data: 1\n\n");
}

TEST_CASE("tls: who answers must be who was asked for") {
  const test::TempFolder folder;
  test::Authority ca(folder.path()), other(folder.path(), "stranger");
  const auto refused = [](const auto& response, std::string_view reason) {
    REQUIRE_FALSE(response);
    CHECK(is_about_trust(response.error()));
    CHECK(response.error().reason.find(reason) != std::string::npos);
  };
  const auto by_address = start(ca.sign("address"));
  const auto by_name = start(ca.sign("name", "DNS:localhost"));
  refused(get(url(*by_address), {.timeout = 5s, .ca = other.pem()}), "not known here");
  refused(get(url(*by_name), {.timeout = 5s, .ca = ca.pem()}), "for another host than 127.0.0.1");
  CHECK(get(url(*by_name, "/", "localhost"), {.timeout = 5s, .ca = ca.pem()}));
  refused(get(url(*by_address, "/", "localhost"), {.timeout = 5s, .ca = ca.pem()}),
          "for another host than localhost");
  const auto brief = start(ca.sign("brief", "IP:127.0.0.1", -60, 5));  // time to start, then not
  std::this_thread::sleep_for(6s);
  refused(get(url(*brief), {.timeout = 5s, .ca = ca.pem()}), "has expired");
  const auto missing = get(url(*brief), {.timeout = 5s, .ca = folder.path() / "gone"});
  REQUIRE_FALSE(missing);
  CHECK_FALSE(is_about_trust(missing.error()));
}

TEST_CASE("tls: a certificate is exchanged while it runs, or stays") {
  const test::TempFolder folder;
  test::Authority ca(folder.path()), next(folder.path(), "next");
  const auto server = start(ca.sign("own"));
  CHECK_FALSE(server->reload(ca.sign("old", "IP:127.0.0.1", -200, -100)));
  CHECK(get(url(*server), {.timeout = 5s, .ca = ca.pem()}));
  REQUIRE(server->reload(next.sign("renewed")));
  CHECK(get(url(*server), {.timeout = 5s, .ca = next.pem()}));
  CHECK_FALSE(get(url(*server), {.timeout = 5s, .ca = ca.pem()}));
}

TEST_CASE("tls: who does not speak it gets an end, in time") {
  const test::TempFolder folder;
  test::Authority ca(folder.path());
  const auto server = start(ca.sign("own"), {.read = 200ms, .idle = 400ms});
  const auto plain = get(fmt::format("http://127.0.0.1:{}/", server->port()), {.timeout = 5s});
  REQUIRE(plain);
  CHECK(plain->status == 400);
  CHECK(plain->body.find("tls_only") != std::string::npos);
  test::RawClient stuck(server->port());
  stuck.send("\x16\x03\x01\x02");
  CHECK(stuck.is_closed_within(5s));
  test::RawClient noise(server->port());
  noise.send(std::string("\x16\x03\x01\x00\x05hello", 10));
  CHECK(noise.is_closed_within(5s));  // after an alert
  CHECK(server->counts().timed_out == 1);
  CHECK(get(url(*server), {.timeout = 5s, .ca = ca.pem()}));
}

}  // namespace
}  // namespace l4::http
