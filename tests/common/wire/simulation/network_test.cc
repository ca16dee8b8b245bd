#include "common/wire/simulation/network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

using namespace l4::wire;
using namespace l4::wire::simulation;
using l4::Millis;

namespace {

Bytes bytes_of(int number) {
  return Bytes(8, static_cast<std::byte>(number));
}

/// A client that is connected.
std::unique_ptr<ClientPort> connect(Network& network, Millis& now, const std::string& name) {
  auto client = network.client(name, "10.0.0.1");
  client->connect();
  CHECK(client->send(bytes_of(0)) == Sent::full);  // not yet
  network.advance(now += Millis{1'000});
  CHECK_FALSE(client->receive().has_value());
  const auto news = client->news();
  REQUIRE(news.has_value());
  CHECK(news->kind == LinkNews::Kind::connected);
  return client;
}

}  // namespace

TEST_CASE("simulated network: messages both ways, with names, after their delay") {
  Network network(1, {0, 0, Millis{10}, Millis{10}, false});
  Millis now{0};
  auto server = network.server();
  auto client = connect(network, now, "node-0");
  CHECK(client->send(bytes_of(1)) == Sent::yes);
  CHECK_FALSE(server->receive().has_value());
  network.advance(now += Millis{10});
  const auto in = server->receive();
  REQUIRE(in.has_value());
  CHECK(in->key_name == "node-0");
  CHECK(in->address == "10.0.0.1");
  CHECK(server->send(in->peer, bytes_of(2)) == Sent::yes);
  network.advance(now += Millis{10});
  CHECK(client->receive() == bytes_of(2));
  CHECK(server->send("nobody", bytes_of(2)) == Sent::gone);
  CHECK(client->send(Bytes(kWireMessageBytesMax + 1)) == Sent::too_long);
}

TEST_CASE("simulated network: queues are bounded") {
  Network network(1);
  Millis now{0};
  auto server = network.server();
  auto client = connect(network, now, "node-0");
  for (int i = 0; i < kHighWaterMark; ++i) CHECK(client->send(bytes_of(i)) == Sent::yes);
  CHECK(client->send(bytes_of(0)) == Sent::full);
  CHECK(network.counts().full == 1);
}

TEST_CASE("simulated network: nobody listens, the server ends, hosts are cut off") {
  Network network(1);
  Millis now{0};
  auto client = network.client("node-0", "10.0.0.1");
  client->connect();
  CHECK(client->news()->kind == LinkNews::Kind::lost);
  auto server = network.server();
  client = connect(network, now, "node-0");
  server.reset();
  CHECK(client->news()->kind == LinkNews::Kind::lost);
  CHECK(client->send(bytes_of(1)) == Sent::gone);
  server = network.server();
  client = connect(network, now, "node-0");
  network.cut("10.0.0.1", true);
  CHECK(client->send(bytes_of(1)) == Sent::yes);
  network.cut("10.0.0.1", false);
  CHECK(client->send(bytes_of(2)) == Sent::yes);
  network.advance(now += Millis{100});
  CHECK(server->receive()->message == bytes_of(2));
  network.reset("10.0.0.1");
  CHECK(client->news()->kind == LinkNews::Kind::lost);
}

TEST_CASE("simulated network: loss, copies and order follow from the seed") {
  const auto play = [](std::uint64_t seed) {
    Network network(seed, {0.2, 0.2, Millis{1}, Millis{50}, true});
    Millis now{0};
    auto server = network.server();
    auto client = network.client("node-0", "10.0.0.1");
    client->connect();
    network.advance(now += Millis{100});
    client->receive();
    std::vector<int> seen;
    for (int i = 0; i < 250; ++i) {
      client->send(bytes_of(i));
      network.advance(now += Millis{10});
      while (const auto in = server->receive()) seen.push_back(static_cast<int>(in->message[0]));
    }
    return seen;
  };
  const auto seen = play(7);
  CHECK(seen == play(7));
  CHECK(seen != play(8));
  std::map<int, int> times;
  for (const int number : seen) ++times[number];
  CHECK(times.size() < 230);
  CHECK(times.size() > 150);
  CHECK(seen.size() > times.size());
  CHECK_FALSE(std::ranges::is_sorted(seen));
}
