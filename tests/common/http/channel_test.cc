#include "common/http/channel.h"

#include <doctest/doctest.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

namespace l4::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// Both ends of a connection on loopback, on one context.
struct Ends {
  asio::io_context context{1};
  Channel one{context};
  std::unique_ptr<Channel> other = std::make_unique<Channel>(context);

  Ends() {
    tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
    bool is_connected = false;
    one.connect("localhost", acceptor.local_endpoint().port(),
                [&](Channel::ErrorCode code) { is_connected = !code; });
    context.run();
    REQUIRE(is_connected);
    tcp::socket accepted = acceptor.accept();
    other->assign(accepted.release(), false);
    context.restart();
  }
};

TEST_CASE("a head and a body larger than any buffer of the system arrive whole and in order") {
  Ends ends;
  const std::string head = "head;", body(8 << 20, 'b');
  std::string got;
  std::array<char, 60'000> room{};
  std::size_t written = 0;
  ends.one.write(head, body, [&](Channel::ErrorCode code, std::size_t bytes) {
    CHECK_FALSE(code);
    written = bytes;
  });
  std::function<void()> read = [&] {
    ends.other->read_some(room, [&](Channel::ErrorCode code, std::size_t bytes) {
      got.append(room.data(), bytes);
      if (!code && got.size() < head.size() + body.size()) read();
    });
  };
  read();
  ends.context.run();
  CHECK(written == head.size() + body.size());
  CHECK(got == head + body);
}

TEST_CASE("an operation that is under way at the end of the span closes the connection") {
  Ends ends;
  std::array<char, 8> room{};
  Channel::ErrorCode ended;
  ends.one.expire_after(Millis{20});
  ends.one.read_some(room, [&](Channel::ErrorCode code, std::size_t) { ended = code; });
  ends.context.run();
  CHECK(ended == asio::error::timed_out);
  CHECK(ends.one.peer().empty());
}

TEST_CASE("a span that ends between two operations does no harm, and the next one may renew it") {
  Ends ends;
  std::array<char, 8> room{};
  bool has_read = false;
  ends.one.expire_after(Millis{1});
  asio::steady_timer later(ends.context, std::chrono::milliseconds(30));
  later.async_wait([&](Channel::ErrorCode) {
    CHECK(ends.one.peer().starts_with("127.0.0.1:"));
    ends.one.expire_after(Millis{5'000});
    ends.one.read_some(room, [&](Channel::ErrorCode code, std::size_t) { has_read = !code; });
    ends.other->write("x", {}, [](Channel::ErrorCode, std::size_t) {});
  });
  ends.context
      .run();  // ends at once: the span of an operation that is over is no longer waited for
  CHECK(has_read);
}

TEST_CASE("a span may be made shorter while an operation is under way") {
  Ends ends;
  std::array<char, 8> room{};
  Channel::ErrorCode ended;
  ends.one.expire_after(Millis{60'000});
  ends.one.read_some(room, [&](Channel::ErrorCode code, std::size_t) { ended = code; });
  ends.one.expire_after(Millis{10});
  ends.context.run();
  CHECK(ended == asio::error::timed_out);
}

TEST_CASE("a channel may end before its operations do") {
  Ends ends;
  std::array<char, 8> room{};
  Channel::ErrorCode ended;
  ends.other->expire_after(Millis{60'000});
  ends.other->read_some(room, [&](Channel::ErrorCode code, std::size_t) { ended = code; });
  ends.other.reset();
  ends.context.run();
  CHECK(ended == asio::error::operation_aborted);
}

}  // namespace
}  // namespace l4::http
