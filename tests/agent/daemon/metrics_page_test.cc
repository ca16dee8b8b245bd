#include "agent/daemon/metrics_page.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/sockets/listen_address.h"

namespace l4::daemon {
namespace {

/// A client; the page is served between its steps.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void say(std::string_view text) const {
    CHECK(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(text.size()));
  }
  /// The bytes received so far, and "closed" at their end.
  std::string heard() const {
    std::string all;
    std::array<char, 4096> bytes{};
    for (;;) {
      const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (count == 0) return all + "closed";
      if (count < 0) return all;
      all.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  int socket_;
};

struct Served {
  MetricsPage page = std::move(*MetricsPage::listen("127.0.0.1:0"));
  Millis now{0};
  int rendered = 0;
  std::string text = "l4_agent_jobs 1\n";

  void serve(Millis later = Millis{0}) {
    now += later;
    page.serve(now, [this] {
      ++rendered;
      return text;
    });
  }
  std::string ask(std::string_view request) {
    const Client client(page.port());
    client.say(request);
    serve();
    return client.heard();
  }
};

TEST_CASE("metrics page: it answers GET and HEAD of /metrics and nothing else") {
  struct Row {
    std::string_view request, status;
  };
  constexpr Row kRows[] = {
      {"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
      {"GET /metrics?name=a HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
      {"HEAD /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
      {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found\r\n"},
      {"POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n"},
      {"GET /metrics\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
      {"\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
      {std::string_view("\0\1\2 \xff \r\n\r\n", 10), "HTTP/1.1 400 Bad Request\r\n"},
  };
  Served served;
  for (const Row& row : kRows) {
    CAPTURE(row.request);
    const std::string heard = served.ask(row.request);
    CHECK(heard.starts_with(row.status));
    CHECK(heard.ends_with("closed"));
    const bool whole = row.request.starts_with("GET") && row.status.ends_with("OK\r\n");
    CHECK((heard.find("\r\n\r\nl4_agent_jobs 1\n") != std::string::npos) == whole);
  }
  CHECK(served.page.connections() == 0);
}

TEST_CASE("metrics page: a request in pieces is waited for, a longer one is refused") {
  Served served;
  const Client client(served.page.port());
  for (const char letter : std::string_view("GET /metrics HTTP/1.1\r\n\r")) {
    client.say({&letter, 1});
    served.serve();
    CHECK(client.heard().empty());
  }
  client.say("\n");
  served.serve();
  CHECK(client.heard().starts_with("HTTP/1.1 200 OK"));
  CHECK(served.ask("GET /metrics HTTP/1.1\r\nX: " + std::string(MetricsPage::kRequestMax, 'x'))
            .starts_with("HTTP/1.1 431 "));
}

TEST_CASE("metrics page: an answer longer than a socket holds is sent as it is read") {
  Served served;
  served.text.assign(8 << 20, 'x');
  const Client client(served.page.port());
  client.say("GET /metrics HTTP/1.1\r\n\r\n");
  std::string heard;
  for (int turn = 0; turn < 10'000 && !heard.ends_with("closed"); ++turn) {
    served.serve();
    heard += client.heard();
  }
  CHECK(heard.size() > served.text.size());
  CHECK(heard.ends_with("xclosed"));
}

TEST_CASE("metrics page: who says nothing is let go, and so is the oldest of too many") {
  Served served;
  const Client silent(served.page.port());
  served.serve();
  CHECK(served.page.connections() == 1);
  served.serve(MetricsPage::kPatience);
  CHECK(silent.heard().empty());
  served.serve(Millis{1});
  CHECK(silent.heard() == "closed");
  CHECK(served.page.connections() == 0);

  std::vector<std::unique_ptr<Client>> many;
  for (std::size_t i = 0; i < MetricsPage::kConnectionsMax; ++i) {
    many.push_back(std::make_unique<Client>(served.page.port()));
    served.serve();
  }
  CHECK(served.page.connections() == MetricsPage::kConnectionsMax);
  CHECK(served.ask("GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 OK"));
  CHECK(many.front()->heard() == "closed");
  CHECK(many.back()->heard().empty());
}

TEST_CASE("metrics page: what is asked often is rendered once a second") {
  Served served;
  for (int i = 0; i < 5; ++i) served.ask("GET /metrics HTTP/1.1\r\n\r\n");
  CHECK(served.rendered == 1);
  served.serve(MetricsPage::kRenderEvery);
  served.ask("GET /metrics HTTP/1.1\r\n\r\n");
  CHECK(served.rendered == 2);
}

TEST_CASE("metrics page: without a descriptor for who asks it is not polled in vain") {
  Served served;
  const Client client(served.page.port());
  client.say("GET /metrics HTTP/1.1\r\n\r\n");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int free = ::dup(0);
  ::close(free);
  const rlimit none{static_cast<rlim_t>(free), before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  served.serve();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  const auto waits = [&] {
    std::vector<pollfd> all;
    served.page.wait_for(all);
    return all.size();
  };
  CHECK(waits() == 0);
  served.serve();
  CHECK(client.heard().empty());
  served.serve(MetricsPage::kDeafFor);
  CHECK(waits() == 1);
  CHECK(client.heard().starts_with("HTTP/1.1 200 OK"));
}

TEST_CASE("metrics page: an address that is none or taken is told") {
  const Served served;
  const auto again = MetricsPage::listen("127.0.0.1:" + std::to_string(served.page.port()));
  REQUIRE(!again);
  CHECK(again.error().text().find("metrics cannot be served") != std::string::npos);
  CHECK(!MetricsPage::listen("nowhere"));
  CHECK(sockets::is_listen_address("[::]:7441"));
}

}  // namespace
}  // namespace l4::daemon
