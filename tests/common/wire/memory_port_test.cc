#include "common/wire/memory_port.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <atomic>
#include <thread>

using namespace l4::wire;
using l4::Millis;

namespace {

Bytes message_of(int number) {
  return Bytes(8, static_cast<std::byte>(number));
}

bool is_readable(int file) {
  pollfd one{file, POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

std::unique_ptr<ClientPort> connected(MemoryWire& wire, const std::string& name) {
  auto client = wire.client(name);
  client->connect();
  CHECK(is_readable(client->wait_fd()));
  const auto news = client->news();
  REQUIRE(news.has_value());
  CHECK(news->kind == LinkNews::Kind::connected);
  CHECK_FALSE(client->news().has_value());
  CHECK_FALSE(client->receive().has_value());
  CHECK_FALSE(is_readable(client->wait_fd()));
  return client;
}

}  // namespace

TEST_CASE("wire in memory: messages both ways, with the name of the key") {
  MemoryWire wire;
  const auto server = wire.server();
  const auto client = connected(wire, "node-0"), other = connected(wire, "node-1");
  CHECK(client->send(message_of(1)) == Sent::yes);
  CHECK(is_readable(server->wait_fd()));
  const auto in = server->receive();
  REQUIRE(in.has_value());
  CHECK(in->key_name == "node-0");
  CHECK(in->message == message_of(1));
  CHECK_FALSE(server->receive().has_value());
  CHECK_FALSE(is_readable(server->wait_fd()));
  CHECK(server->send(in->peer, message_of(2)) == Sent::yes);
  CHECK(client->receive() == message_of(2));
  CHECK_FALSE(other->receive().has_value());
  CHECK(server->send("memory-99", message_of(2)) == Sent::gone);
  CHECK(client->send(Bytes(kWireMessageBytesMax + 1)) == Sent::too_long);
  CHECK(server->send(in->peer, Bytes(kWireMessageBytesMax + 1)) == Sent::too_long);
}

TEST_CASE("wire in memory: a full direction says so, and wakes the sender when there is room") {
  MemoryWire wire;
  const auto server = wire.server();
  const auto client = connected(wire, "node-0");
  for (int i = 0; i < kHighWaterMark; ++i) CHECK(client->send(message_of(i)) == Sent::yes);
  CHECK(client->send(message_of(99)) == Sent::full);
  CHECK_FALSE(is_readable(client->wait_fd()));
  const auto in = server->receive();
  REQUIRE(in.has_value());
  CHECK(is_readable(client->wait_fd()));
  CHECK(client->send(message_of(kHighWaterMark)) == Sent::yes);
  for (int i = 1; i <= kHighWaterMark; ++i) CHECK(server->receive()->message == message_of(i));
  for (int i = 0; i < kHighWaterMark; ++i)
    CHECK(server->send(in->peer, message_of(i)) == Sent::yes);
  CHECK(server->send(in->peer, message_of(99)) == Sent::full);
  CHECK_FALSE(server->receive().has_value());
  CHECK(client->receive() == message_of(0));
  CHECK(is_readable(server->wait_fd()));
}

TEST_CASE("wire in memory: connections end with either side, and begin anew") {
  MemoryWire wire;
  const auto early = wire.client("node-0");
  early->connect();
  REQUIRE(early->news()->kind == LinkNews::Kind::lost);  // there is no server
  CHECK(early->send(message_of(1)) == Sent::gone);

  auto server = wire.server();
  const auto client = connected(wire, "node-0");
  CHECK(client->send(message_of(1)) == Sent::yes);
  const PeerId first = server->receive()->peer;
  CHECK(client->send(message_of(2)) == Sent::yes);
  client->connect();  // what was under way is lost
  CHECK(server->send(first, message_of(3)) == Sent::gone);
  CHECK_FALSE(server->receive().has_value());
  CHECK(client->news()->kind == LinkNews::Kind::connected);

  server.reset();
  CHECK(is_readable(client->wait_fd()));
  CHECK(client->send(message_of(4)) == Sent::gone);
  CHECK(client->news()->kind == LinkNews::Kind::lost);
  CHECK_FALSE(client->news().has_value());
  server = wire.server();
  client->connect();
  CHECK(client->news()->kind == LinkNews::Kind::connected);
  CHECK(client->send(message_of(5)) == Sent::yes);
  CHECK(server->receive()->message == message_of(5));
}

TEST_CASE("wire in memory: wake ends a wait, also one that begins later") {
  MemoryWire wire;
  const auto server = wire.server();
  server->wake();
  CHECK_FALSE(server->receive().has_value());  // quiets the bell, and not the wake
  server->wait(Millis{600'000});
  const auto client = connected(wire, "node-0");
  client->wake();
  client->wait(Millis{600'000});
}

TEST_CASE("wire in memory: two threads lose nothing and keep the order") {
  constexpr int kMessages = 5'000;
  MemoryWire wire;
  const auto server = wire.server();
  std::atomic<bool> done{false};
  std::jthread echo([&] {
    while (!done) {
      while (auto in = server->receive())
        while (server->send(in->peer, in->message) == Sent::full) server->wait(Millis{100});
      server->wait(Millis{100});
    }
  });
  const auto client = connected(wire, "node-0");
  int sent = 0, received = 0;
  while (received < kMessages) {
    while (sent < kMessages && client->send(message_of(sent % 251)) == Sent::yes) ++sent;
    while (const auto back = client->receive()) {
      REQUIRE(*back == message_of(received % 251));
      ++received;
    }
    if (received < kMessages) client->wait(Millis{100});
  }
  done = true;
  server->wake();
}
