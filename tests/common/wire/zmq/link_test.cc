// The link over real sockets: normal operation, and restarts of either end.
#include <doctest/doctest.h>

#include "tests/common/wire/zmq/live_link.h"

namespace l4::test {
namespace {

using State = ship::Session::State;
using wire::Refusal;

TEST_CASE("zmq link: agents connect, ship and are acknowledged") {
  LiveLink link;
  for (int i = 0; i < 3; ++i) link.add("node-" + std::to_string(i));
  link.start();
  for (auto& node : link.nodes) {
    node->start();
    for (std::uint64_t file = 1; file <= 3; ++file) node->write(file, 500);
  }
  CHECK(link.until([&] { return link.everything_counted(); }));
  CHECK(link.ledger.faults().empty());
  CHECK(link.until([&] { return link.nodes[0]->session().clock().has_value(); }));
  const auto agents = link.server->agents();
  REQUIRE(agents.size() == 3);
  CHECK(agents[0].agent == "node-0");
  CHECK(agents[0].address == "127.0.0.1");
  CHECK(agents[0].connected);
}

TEST_CASE("zmq link: restarts of either side count nothing twice") {
  LiveLink link;
  FakeNode& node = link.add("node-0");
  link.start();
  node.start();
  std::uint64_t counted = 0;
  for (int round = 0; round < 6; ++round) {
    node.write(1, 300);
    node.write(2, 300);
    counted += 100;
    CHECK(link.until([&] { return link.ledger.counted("node-0", 1) >= counted; }));
    if (round % 2 == 0)
      link.start();
    else
      node.start();
  }
  CHECK(link.until([&] { return link.everything_counted(); }));
  CHECK(link.ledger.faults().empty());
}

TEST_CASE("zmq link: a message of 1 MiB passes, one byte more does not leave") {
  LiveLink link;
  const auto key = link.enrol("node-0");
  link.start();
  link.server.reset();  // only its port is left
  auto client = link.client(key);
  client->connect();
  bool connected = false;
  CHECK(link.until([&] {
    link.port->receive();
    const auto news = client->news();
    connected = connected || (news && news->kind == wire::LinkNews::Kind::connected);
    return connected;
  }));
  CHECK(client->send(wire::Bytes(wire::kWireMessageBytesMax + 1)) == wire::Sent::too_long);
  CHECK(link.until(
      [&] { return client->send(wire::Bytes(wire::kWireMessageBytesMax)) == wire::Sent::yes; }));
  std::optional<wire::Incoming> in;
  CHECK(link.until([&] { return (in = link.port->receive()).has_value(); }));
  CHECK(in->message.size() == wire::kWireMessageBytesMax);
  CHECK(in->key_name == "node-0");
  CHECK(in->address == "127.0.0.1");
  CHECK(link.port->send(in->peer, wire::Bytes(8)) == wire::Sent::yes);
  CHECK(link.until([&] { return client->receive().has_value(); }));
  CHECK(link.port->send("nobody", wire::Bytes(8)) == wire::Sent::gone);
}

TEST_CASE("zmq link: a key that is not in the list is refused, and both ends say so") {
  LiveLink link;
  link.add("node-0");
  link.add(link.stranger("node-1"), "node-1");
  link.start();
  for (auto& node : link.nodes) node->start();
  CHECK(link.until([&] {
    return link.nodes[0]->session().state() == State::open && link.refused(Refusal::wrong_key) > 2;
  }));
  CHECK(link.lines_about("allow list") == 1);
  REQUIRE(!link.nodes[1]->sayings.empty());
  CHECK(link.nodes[1]->sayings[0].contains("allow list"));
}

TEST_CASE("zmq link: the allow list is read again; a revoked key is refused at once") {
  LiveLink link;
  FakeNode& first = link.add("node-0");
  link.start();
  first.start();
  CHECK(link.until([&] { return first.session().state() == State::open; }));
  FakeNode& second = link.add("node-1");  // enrolled while the aggregator runs
  second.start();
  CHECK(link.until([&] { return second.session().state() == State::open; }));
  link.folder.file("allow-list", "node-1 not-a-key\n");
  CHECK(link.until([&] { return link.notices.size() == 2; }));
  CHECK(link.notices[0].text.contains("read again: 2 keys"));
  CHECK_FALSE(link.notices[0].trouble);
  CHECK(link.notices[1].text.contains("allow-list:1: no CURVE key"));
  CHECK(link.notices[1].trouble);
  CHECK(link.server->agents().size() == 2);
  link.folder.file("allow-list", "# nobody\n");
  CHECK(link.until([&] { return link.refused(Refusal::revoked_key) >= 2; }));
  CHECK(link.lines_about("revoked") == 1);
  CHECK(link.server->agents().empty());
}

TEST_CASE("zmq link: a fleet shares a key and every name may use it") {
  LiveLink link;
  const auto fleet = link.enrol("*");
  for (int i = 0; i < 3; ++i) link.add(fleet, "pod-" + std::to_string(i));
  link.start();
  for (auto& node : link.nodes) {
    node->start();
    node->write(1, 50);
  }
  CHECK(link.until([&] { return link.everything_counted(); }));
  CHECK(link.server->agents()[0].fleet_key);
}

TEST_CASE("zmq link: a node may not speak for another") {
  LiveLink link;
  link.add(link.enrol("node-0"), "node-7");
  link.start();
  link.nodes[0]->start();
  CHECK(link.until([&] { return link.refused(Refusal::wrong_name) > 0; }));
  CHECK(link.lines_about("the key of node-0 may not speak for node-7") == 1);
}

TEST_CASE("zmq link: wake ends a wait") {
  LiveLink link;
  const auto key = link.enrol("node-0");
  link.start();
  auto client = link.client(key);
  client->wake();
  client->wait(Millis{60'000});
  link.port->wake();
  link.port->wait(Millis{60'000});
  CHECK(client->wait_fd() >= 0);
  CHECK(link.port->wait_fd() >= 0);
}

TEST_CASE("zmq link: a client with a wrong endpoint says what is wrong") {
  auto context = std::make_shared<wire::ZmqContext>();
  const auto server = *wire::make_key_pair();
  const auto own = *wire::make_key_pair();
  const wire::NodeKey key{"node-1", own.public_key, own.secret_key, server.public_key};
  for (const char* endpoint : {"", "nowhere", "tcp://", "tcp://:7430", "tcp://host", "tcp://host:",
                               "tcp://host:0", "tcp://host:x", "tcp://a b:1", "ipc:///tmp/x:1"}) {
    CAPTURE(endpoint);
    const auto made = wire::make_zmq_client(context, {endpoint, key});
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().text().contains("tcp://HOST:PORT"));
  }
  for (const char* endpoint : {"tcp://host:7430", "tcp://10.0.0.1:1", "tcp://[::1]:65535"})
    CHECK(wire::make_zmq_client(context, {endpoint, key}).has_value());
}

TEST_CASE("zmq link: a server with wrong options says what is wrong") {
  const TempFolder folder;
  auto context = std::make_shared<wire::ZmqContext>();
  const auto keys = *wire::make_key_pair();
  wire::ZmqServerOptions options;
  options.key = {keys.public_key, keys.secret_key};
  options.endpoint = "tcp://127.0.0.1:*";
  options.allow_list = folder.path() / "none";
  CHECK(wire::ZmqServer::make(context, options).error().text().contains("No such file"));
  options.allow_list = folder.file("allow-list", "a b c\n");
  CHECK(wire::ZmqServer::make(context, options).error().text().contains("allow-list:1"));
  options.allow_list = folder.file("allow-list", "");
  options.endpoint = "tcp://no such place:1";
  CHECK_FALSE(wire::ZmqServer::make(context, options).has_value());
}

}  // namespace
}  // namespace l4::test
