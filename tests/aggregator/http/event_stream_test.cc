#include "aggregator/http/event_stream.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/http/server.h"
#include "common/http/client.h"
#include "tests/aggregator/http/soon.h"
#include "tests/common/http/raw_socket.h"

namespace l4::http {
namespace {

using namespace std::chrono_literals;
using test::soon;

/// A server whose every answer is a stream that is kept here.
class Streams {
 public:
  explicit Streams(ServerOptions options) {
    options.port = 0;
    auto started = Server::start(std::move(options), [this](const Request&, const Reply& reply) {
      const std::lock_guard lock(mutex_);
      all_.push_back(std::make_shared<EventStream>(std::size_t{64} << 20));
      reply({200, "text/event-stream", {}, {}, all_.back()});
    });
    REQUIRE(started);
    server = std::move(*started);
  }
  std::shared_ptr<EventStream> at(std::size_t index) {
    REQUIRE(soon([&] { return size() > index; }));
    const std::lock_guard lock(mutex_);
    return all_[index];
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/", server->port()); }

  std::unique_ptr<Server> server;

 private:
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }
  std::mutex mutex_;
  std::vector<std::shared_ptr<EventStream>> all_;
};

TEST_CASE("event stream: what waits is bounded, and who is too slow is given up") {
  EventStream stream(10);
  int rung = 0;
  stream.on_news([&] { ++rung; });
  CHECK(stream.push("12345"));
  CHECK(stream.push("67890"));
  CHECK(rung == 2);
  CHECK(stream.take().text == "1234567890");
  CHECK(stream.push("1234567890"));
  CHECK_FALSE(stream.push("1"));
  CHECK(stream.is_over());
  const auto taken = stream.take();
  CHECK(taken.text.empty());
  CHECK(taken.over);
  CHECK(taken.cut);
  CHECK_FALSE(stream.push("1"));
}

TEST_CASE("event stream: an end lets out what waits") {
  EventStream stream(100);
  CHECK(stream.push("last"));
  stream.end();
  CHECK_FALSE(stream.push("later"));
  const auto taken = stream.take();
  CHECK(taken.text == "last");
  CHECK(taken.over);
  CHECK_FALSE(taken.cut);
}

TEST_CASE("event stream: is followed over the wire, heartbeats in between, until its end") {
  Streams streams({.heartbeat = 50ms});
  std::string got;
  std::thread publisher([&] {
    const auto stream = streams.at(0);
    for (int i = 0; i < 3; ++i) {
      stream->push(event_text(std::to_string(i), "x", "{}"));
      std::this_thread::sleep_for(120ms);
    }
    stream->push("data: " + std::string(300'000, 'a') + "\n\n");
    stream->end();
  });
  const auto ended = follow(streams.url(), {.timeout = 5s}, [&](std::string_view piece) {
    got += piece;
    return true;
  });
  publisher.join();
  REQUIRE(ended);
  CHECK(ended->status == 200);
  CHECK(got.starts_with("id: 0\nevent: x\ndata: {}\n\n"));
  CHECK(got.find(":\n\nid: 1\n") != std::string::npos);
  CHECK(got.ends_with("aaa\n\n"));
  CHECK(got.size() > 300'000);
  CHECK(soon([&] { return streams.server->counts().streams == 0; }));
}

TEST_CASE("event stream: the follower ends it, or the silence does") {
  Streams streams({.heartbeat = 1h});
  std::thread publisher([&] { streams.at(0)->push("data: 1\n\n"); });
  const auto left = follow(streams.url(), {.timeout = 5s}, [](std::string_view) { return false; });
  publisher.join();
  CHECK(left);
  CHECK(soon([&] { return streams.at(0)->is_over(); }));
  const auto silent =
      follow(streams.url(), {.timeout = 200ms}, [](std::string_view) { return true; });
  REQUIRE_FALSE(silent);
  CHECK(silent.error().reason.find("within 200 ms") != std::string::npos);
}

TEST_CASE("event stream: one who never reads is closed, and others go on") {
  Streams streams({.write = 300ms, .streams_max = 2, .heartbeat = 1h});
  test::RawClient deaf(streams.server->port());
  deaf.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto stuck = streams.at(0);
  test::RawClient other(streams.server->port());
  other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto well = streams.at(1);
  stuck->push(std::string(32 << 20, 'x'));  // more than the system buffers
  CHECK(soon([&] { return stuck->is_over(); }));
  CHECK(soon([&] { return streams.server->counts().timed_out == 1; }));
  CHECK(well->push("data: 1\n\n"));
  CHECK(soon([&] { return streams.server->counts().streams == 1; }));
  const auto third = get(streams.url(), {.timeout = 100ms});  // opens another stream in its place
  CHECK_FALSE(third);  // the answer never ends, so the client times out
}

TEST_CASE("event stream: more than may be are refused, and a stop closes them") {
  Streams streams({.streams_max = 1, .heartbeat = 1h});
  test::RawClient first(streams.server->port());
  first.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto open = streams.at(0);
  REQUIRE(soon([&] { return streams.server->counts().streams == 1; }));
  const auto refused = get(streams.url(), {.timeout = 5s});
  REQUIRE(refused);
  CHECK(refused->status == 503);
  streams.server.reset();
  CHECK(open->is_over());
  CHECK_FALSE(open->push("late"));
}

}  // namespace
}  // namespace l4::http
