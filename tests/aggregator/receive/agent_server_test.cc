// Both ends over the simulated network, one situation in each test.
#include "aggregator/receive/agent_server.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "common/wire/codec/batch_codec.h"
#include "common/wire/codec/control_codec.h"
#include "tests/aggregator/receive/link_world.h"
#include "tests/temp_folder.h"

namespace l4::test {
namespace {

using Kind = receive::AgentEvent::Kind;
using State = ship::Session::State;
using wire::Refusal;

/// One agent that is connected.
struct Pair : LinkWorld {
  explicit Pair(receive::ServerOptions server_options = {}, ship::SessionOptions options = {})
      : LinkWorld(1, {}, std::move(server_options)),
        node(add("node-0", "10.0.0.1", std::move(options))) {
    start_server();
    node.start();
    run(Millis{1'000});
  }
  std::uint64_t refused(Refusal kind) const {
    return server->stats().refused.at(static_cast<std::size_t>(kind));
  }
  FakeNode& node;
};

/// A client that sends any message.
struct Rogue {
  Rogue(LinkWorld& in, const std::string& key, const std::string& address)
      : world(in), port(in.network.client(key, address)) {
    port->connect();
    world.run(Millis{100});
    port->receive();
  }
  void say(const wire::Control& message) {
    port->send(wire::encode(wire::Envelope{1, message}));
    world.run(Millis{100});
  }
  void hello(const std::string& name) {
    wire::Hello hello;
    hello.agent = name;
    hello.incarnation = 99;
    say(hello);
  }
  template <class T>
  std::optional<T> answer() {
    while (const auto bytes = port->receive()) {
      const auto envelope = wire::decode_control(*bytes);
      if (const auto* found = envelope ? std::get_if<T>(&envelope->message) : nullptr)
        return *found;
    }
    return std::nullopt;
  }
  LinkWorld& world;
  std::unique_ptr<wire::ClientPort> port;
};

TEST_CASE("link: connects, ships, measures the clocks, says goodbye") {
  Pair pair;
  CHECK(pair.node.session().state() == State::open);
  pair.node.write(1, 500);
  CHECK(pair.settle(Millis{10'000}));
  CHECK(pair.node.committed_bytes == 500);
  pair.run(Millis{10'000});
  REQUIRE(pair.server->agents().size() == 1);
  const auto view = pair.server->agents()[0];
  CHECK(view.connected);
  CHECK(view.files == 1);
  CHECK(view.offset_known);
  CHECK(view.delay <= Millis{100});
  pair.node.session().stop("the agent was stopped");
  pair.run(Millis{100'000});
  CHECK(pair.observer.count(Kind::left) == 1);
  CHECK(pair.observer.count(Kind::lost) == 0);
  CHECK_FALSE(pair.server->agents()[0].connected);
}

TEST_CASE("link: never more than the window under way") {
  Pair pair;
  pair.commits = false;
  for (std::uint64_t file = 1; file <= 40; ++file) pair.node.write(file, 10'000);
  pair.run(Millis{5'000});
  CHECK(pair.ledger.pending() == 8);
  CHECK(pair.node.session().stats().batches_sent == 8);
  pair.commits = true;
  pair.run(Millis{1'000});
  CHECK(pair.node.session().stats().batches_committed >= 8);
  CHECK(pair.refused(Refusal::over_window) == 0);
}

TEST_CASE("link: acknowledged is what is durable without a hole before it") {
  Pair pair;
  pair.commits = false;
  pair.node.write(1, 10'000);
  pair.run(Millis{2'000});
  REQUIRE(pair.ledger.pending() == 8);
  pair.server->committed(3);  // tickets count from 1
  pair.run(Millis{10'000});
  CHECK(pair.node.committed_bytes == 0);
  CHECK(pair.node.session().stats().batches_committed == 0);
  pair.ledger.commit(*pair.server, 2);
  pair.run(Millis{1'000});
  CHECK(pair.node.session().stats().batches_committed == 3);
}

TEST_CASE("link: a lost batch is asked for, what follows is not applied before it") {
  Pair pair;
  pair.network.set({0.5, 0, Millis{1}, Millis{1}, false});
  pair.node.write(1, 300);
  CHECK(pair.settle(Millis{300'000}));
  CHECK(pair.ledger.faults().empty());
  CHECK(pair.server->stats().wants + pair.node.session().stats().batches_sent_again > 0);
}

TEST_CASE("link: positions of many files come in pages") {
  LinkWorld world(1);
  world.ledger.prefill("node-0", 40'000);
  auto& node = world.add("node-0", "10.0.0.1");
  world.start_server();
  node.start();
  node.write(77, 3);
  node.write(39'999, 3);
  CHECK(world.settle(Millis{10'000}));
  CHECK(world.ledger.faults().empty());
  CHECK(world.network.counts().bytes > 2u << 20);
}

TEST_CASE("link: an aggregator without its store gets everything again") {
  Pair pair;
  pair.node.write(1, 400);
  CHECK(pair.settle(Millis{10'000}));
  pair.crash_server();
  pair.ledger.lose_everything();
  pair.start_server();
  pair.node.write(1, 10);
  CHECK(pair.settle(Millis{60'000}));
  CHECK(pair.node.session().stats().resets == 1);
  CHECK(pair.ledger.faults().empty());
}

TEST_CASE("link: what was read alone is dropped if positions turn up that nobody remembered") {
  for (const bool remembers : {true, false}) {
    CAPTURE(remembers);
    Pair pair;
    pair.node.write(1, 100);
    CHECK(pair.settle(Millis{10'000}));
    pair.crash_server();
    pair.node.start();  // a new incarnation of the agent
    pair.node.begin_alone(remembers);
    pair.node.write(2, 50);
    pair.node.read_alone(1, 100);
    pair.run(Millis{2'000});
    REQUIRE(pair.node.session().queue().size() > 0);
    pair.start_server();
    CHECK(pair.settle(Millis{60'000}));
    CHECK(pair.node.session().stats().resets == (remembers ? 0 : 1));
    CHECK(pair.ledger.faults().empty());
  }
}

TEST_CASE("link: a damaged spool costs nothing") {
  const TempFolder folder;
  ship::SessionOptions options;
  options.queue.memory_bytes_max = 500;
  options.queue.spool = folder.path();
  Pair pair({}, options);
  pair.commits = false;
  pair.node.write(1, 2'000);
  pair.run(Millis{3'000});
  REQUIRE(pair.node.session().queue().spool_bytes() > 0);
  for (const auto& file : std::filesystem::directory_iterator(folder.path()))
    std::filesystem::resize_file(file.path(), 10);
  pair.commits = true;
  CHECK(pair.settle(Millis{60'000}));
  CHECK(pair.ledger.faults().empty());
  CHECK(pair.node.session().stats().resets == 1);
}

TEST_CASE("link: under pressure the agent sheds, lines stay counted") {
  ship::SessionOptions options;
  options.queue.batches_max = 20;
  Pair pair({}, options);
  pair.commits = false;
  pair.node.write(1, 2'000);
  pair.run(Millis{5'000});
  CHECK(pair.node.session().pressure() == wire::Shedding::counts);
  CHECK_FALSE(pair.node.session().has_room());
  const ship::SessionStats& stats = pair.node.session().stats();
  CHECK(stats.shed.order_runs > 0);
  CHECK(stats.shed.batches > 0);
  CHECK(stats.oversize.batches == 0);  // shedding is counted by its reason
  CHECK(pair.server->agents()[0].shedding == wire::Shedding::counts);
  pair.commits = true;
  CHECK(pair.settle(Millis{60'000}));
  CHECK(pair.ledger.faults().empty());
}

TEST_CASE("link: an agent that wants memory sheds, too, and says so") {
  Pair pair;
  pair.node.session().press(wire::Shedding::order);
  pair.node.write(1, 200);
  CHECK(pair.settle(Millis{10'000}));
  CHECK(pair.node.session().stats().shed.order_runs > 0);
  pair.run(Millis{4'000});  // a heartbeat reports the shedding
  CHECK(pair.server->agents()[0].shedding == wire::Shedding::order);
  const std::uint64_t shed = pair.node.session().stats().shed.order_runs;
  pair.node.session().press(wire::Shedding::nothing);
  pair.node.write(1, 200);
  CHECK(pair.settle(Millis{10'000}));
  CHECK(pair.node.session().stats().shed.order_runs == shed);
}

TEST_CASE("link: a batch that cannot be stored is sent again") {
  Pair pair;
  pair.commits = false;
  pair.node.write(1, 200);
  pair.run(Millis{2'000});
  pair.ledger.fail(*pair.server);
  pair.commits = true;
  CHECK(pair.settle(Millis{60'000}));
  CHECK(pair.ledger.faults().empty());
}

TEST_CASE("link: a batch that nobody can read gives way to one that says so") {
  Pair pair;
  wire::Batch batch;
  batch.coverage.push_back({"log", {0, 30}, 30, 30, {1, 0, 0, 0, 0}});
  wire::TemplateDefinition definition;
  definition.text = std::string(wire::kTemplateTextBytesMax + 1, 'x');
  batch.templates.push_back(definition);
  pair.node.session().offer(batch);
  pair.run(Millis{5'000});
  CHECK(pair.ledger.counted("node-0", 1) == 30);
  REQUIRE(pair.ledger.warnings().size() == 1);
  CHECK(pair.ledger.warnings()[0].kind == "refused");
  CHECK(pair.refused(Refusal::malformed) == 1);
  CHECK(pair.node.session().state() == State::open);
}

TEST_CASE("link: released files are forgotten once they are committed") {
  Pair pair;
  pair.node.write(1, 20);
  pair.node.write(2, 20);
  CHECK(pair.settle(Millis{10'000}));
  pair.node.session().release(1);
  pair.run(Millis{8'000});
  CHECK(pair.ledger.released == std::set<std::uint64_t>{1});
  CHECK(pair.server->agents()[0].files == 1);
}

TEST_CASE("link: questions and answers") {
  Pair pair;
  CHECK(pair.server->ask("node-0", {7, "lines", {}}));
  CHECK_FALSE(pair.server->ask("node-1", {7, "lines", {}}));
  pair.run(Millis{200});
  REQUIRE(pair.node.asked_.size() == 1);
  CHECK(pair.node.session().answer({7, "lines", {}, true}));
  pair.run(Millis{200});
  REQUIRE(pair.observer.answers.size() == 1);
  CHECK(pair.observer.answers[0].first == "node-0");
}

TEST_CASE("server: one name from two addresses is refused, and an alert if both live") {
  Pair pair;
  Rogue rogue(pair, "*", "10.0.0.66");
  rogue.hello("node-0");
  const auto refuse = rogue.answer<wire::Refuse>();
  REQUIRE(refuse.has_value());
  CHECK(refuse->reason == wire::RefuseReason::name_taken);
  pair.run(Millis{5'000});
  CHECK(pair.observer.count(Kind::name_twice, "node-0") == 1);
  CHECK(pair.node.session().state() == State::open);
  for (int i = 0; i < 5; ++i) {  // repeated requests publish no second event
    rogue.hello("node-0");
    pair.run(Millis{5'000});
  }
  CHECK(pair.observer.count(Kind::name_twice, "node-0") == 1);
  CHECK(pair.refused(Refusal::name_taken) == 6);
  pair.run(Millis{600'000});
  rogue.hello("node-0");
  pair.run(Millis{5'000});
  CHECK(pair.observer.count(Kind::name_twice, "node-0") == 2);
  // The first agent has vanished: the name is free.
  pair.node.kill();
  pair.run(Millis{8'000});
  rogue.hello("node-0");
  CHECK(rogue.answer<wire::Welcome>().has_value());
  CHECK(pair.observer.count(Kind::name_twice) == 2);
}

TEST_CASE("server: two agents with one name at one address do not take it from each other") {
  Pair pair;
  FakeNode& other = pair.add("node-0", "10.0.0.1", {});
  other.start();  // the other agent gets the name, because it may be a restart of the first one
  pair.run(Millis{60'000});
  CHECK(other.session().state() == State::open);
  CHECK(pair.node.session().state() != State::open);
  CHECK(other.session().stats().welcomes == 1);
  CHECK(pair.observer.count(Kind::name_twice, "node-0") == 1);
  CHECK(pair.refused(Refusal::name_taken) >= 2);
  other.kill();
  pair.run(Millis{60'000});
  CHECK(pair.node.session().state() == State::open);
  CHECK(pair.observer.count(Kind::name_twice, "node-0") == 1);
}

TEST_CASE("server: an agent that is started again and again is one agent") {
  Pair pair;
  for (int i = 0; i < 10; ++i) {
    pair.node.kill();
    pair.node.start();
    pair.run(Millis{5'000});
    CHECK(pair.node.session().state() == State::open);
  }
  CHECK(pair.observer.count(Kind::name_twice) == 0);
  CHECK(pair.refused(Refusal::name_taken) == 0);
}

TEST_CASE("server: keys, versions, room") {
  receive::ServerOptions options;
  options.agents_max = 1;
  Pair pair(options);
  Rogue rogue(pair, "node-5", "10.0.0.66");
  rogue.hello("node-6");
  CHECK(rogue.answer<wire::Refuse>()->text == "the key of node-5 may not speak for node-6");
  rogue.hello("node-5");
  CHECK(rogue.answer<wire::Refuse>()->reason == wire::RefuseReason::busy);
  wire::Hello hello;
  hello.agent = "node-5";
  hello.version_min = hello.version_max = 9;
  rogue.say(hello);
  CHECK(rogue.answer<wire::Refuse>()->reason == wire::RefuseReason::version);
  rogue.say(wire::Heartbeat{});
  CHECK(rogue.answer<wire::Refuse>()->reason == wire::RefuseReason::say_hello);
  rogue.port->send(wire::Bytes(24, std::byte{0xee}));
  pair.run(Millis{100});
  CHECK(rogue.answer<wire::Refuse>()->reason == wire::RefuseReason::malformed);
  for (const auto kind :
       {Refusal::wrong_name, Refusal::version, Refusal::too_many, Refusal::malformed})
    CHECK(pair.refused(kind) == 1);
  CHECK(pair.observer.notices.size() == 4);
}

TEST_CASE("server: batches of another agent, without a file key, or beyond the window") {
  Pair pair;
  Rogue rogue(pair, "node-5", "10.0.0.66");
  rogue.hello("node-5");
  REQUIRE(rogue.answer<wire::Welcome>().has_value());
  wire::Batch batch;
  batch.agent = "node-0";
  batch.incarnation = 99;
  auto bytes = wire::encode(batch);
  rogue.say(wire::BatchFrame{1, bytes});
  CHECK(rogue.answer<wire::Refuse>()->text == "the batch is of another agent");
  batch.agent = "node-5";
  batch.coverage.push_back({"log", {0, 10}, 1, 10, {}});
  bytes = wire::encode(batch);
  rogue.say(wire::BatchFrame{1, bytes});
  CHECK(rogue.answer<wire::Refuse>()->text.contains("no file key"));
  pair.commits = false;
  for (std::uint64_t i = 1; i <= 12; ++i) {
    batch.sequence = i;
    batch.coverage[0].file.key = i;
    bytes = wire::encode(batch);
    rogue.say(wire::BatchFrame{i, bytes});
  }
  CHECK(pair.ledger.pending() == 8);
  CHECK(pair.refused(Refusal::over_window) == 1);
}

TEST_CASE("server: bytes that are counted are acknowledged and not counted again") {
  Pair pair;
  Rogue rogue(pair, "node-5", "10.0.0.66");
  rogue.hello("node-5");
  wire::Batch batch;
  batch.agent = "node-5";
  batch.incarnation = 99;
  batch.coverage.push_back({"log", {0, 10}, 10, 10, {1, 0, 0, 0, 0}});
  for (std::uint64_t number = 1; number <= 3; ++number) {
    batch.sequence = number;
    const auto bytes = wire::encode(batch);
    rogue.say(wire::BatchFrame{number, bytes});
    pair.run(Millis{300});
    CHECK(rogue.answer<wire::Ack>()->number == number);
  }
  CHECK(pair.ledger.counted("node-5", 1) == 10);
  CHECK(pair.server->stats().batches_seen == 2);
  batch.coverage[0].bytes = {5, 15};
  const auto bytes = wire::encode(batch);
  rogue.say(wire::BatchFrame{4, bytes});
  CHECK(rogue.answer<wire::Want>() == wire::Want{4, {{1, 10}}});
  CHECK(pair.ledger.counted("node-5", 1) == 10);
}

TEST_CASE("server: an agent that takes no answers is dropped, the others notice nothing") {
  Pair pair;
  Rogue rogue(pair, "node-5", "10.0.0.66");
  rogue.hello("node-5");
  for (int i = 0; i < 300; ++i) rogue.say(wire::Heartbeat{});
  CHECK(pair.refused(Refusal::never_reads) == 1);
  CHECK(std::ranges::any_of(pair.observer.notices,
                            [](const auto& line) { return line.contains("takes no answers"); }));
  pair.node.write(1, 100);
  CHECK(pair.settle(Millis{5'000}));
  CHECK(pair.node.session().stats().connects == 1);
}

TEST_CASE("server: after its restart all agents are back in a minute and none is lost") {
  LinkWorld world(5);
  for (int i = 0; i < 200; ++i)
    world.add("node-" + std::to_string(i), "10.0.0." + std::to_string(i)).start();
  world.start_server();
  world.run(Millis{70'000});
  world.crash_server();
  world.run(Millis{30'000});
  world.start_server();
  for (int i = 0; i < 200; ++i) world.server->expect("node-" + std::to_string(i));
  world.run(Millis{60'000});
  CHECK(std::ranges::all_of(
      world.nodes, [](const auto& node) { return node->session().state() == State::open; }));
  world.run(Millis{60'000});
  CHECK(world.observer.count(Kind::lost) == 0);
  CHECK(world.observer.count(Kind::blind) == 0);
  // The server's own cable is cut: it is blind, and no agent is lost.
  world.network.cut_server(true);
  world.run(Millis{30'000});
  CHECK(world.observer.count(Kind::blind) == 1);
  world.network.cut_server(false);
  world.run(Millis{120'000});
  CHECK(world.observer.count(Kind::sighted) == 1);
  CHECK(world.observer.count(Kind::lost) == 0);
  // One node.
  world.network.cut("10.0.0.7", true);
  world.run(Millis{15'000});
  CHECK(world.observer.count(Kind::lost, "node-7") == 1);
  CHECK(world.observer.count(Kind::lost) == 1);
  world.network.cut("10.0.0.7", false);
  world.run(Millis{60'000});
  CHECK(world.observer.count(Kind::back, "node-7") == 1);
}

TEST_CASE("session: trouble is told as such, and each time that it is over") {
  using NoticeKind = ship::NoticeKind;
  Pair pair;
  for (int i = 0; i < 2; ++i) {
    pair.server.reset();
    pair.run(Millis{60'000});
    CHECK(pair.node.kinds.back() == NoticeKind::trouble);
    pair.start_server();
    pair.run(Millis{60'000});
    CHECK(pair.node.kinds.back() == NoticeKind::recovery);
    CHECK(pair.node.sayings.back() == "connected to the aggregator");
  }
  CHECK(pair.node.kinds.front() == NoticeKind::news);
  CHECK(std::ranges::count(pair.node.kinds, NoticeKind::recovery) == 2);
  CHECK(std::ranges::adjacent_find(pair.node.sayings) == pair.node.sayings.end());
}

TEST_CASE("session: trouble that the log does not tell comes again, its end does not") {
  Pair pair;
  pair.node.tells = false;
  pair.server.reset();
  pair.run(Millis{120'000});
  const auto troubles = pair.node.sayings.size() - 1;
  CHECK(troubles > 2);
  pair.start_server();
  pair.run(Millis{60'000});
  CHECK(pair.node.session().state() == State::open);
  CHECK(std::ranges::count(pair.node.kinds, ship::NoticeKind::trouble) ==
        static_cast<std::ptrdiff_t>(pair.node.sayings.size() - 1));
}

TEST_CASE("session: an aggregator of another version is left alone for a while") {
  receive::ServerOptions options;
  options.version_min = options.version_max = 5;
  Pair pair(options);
  pair.run(Millis{60'000});
  CHECK(pair.node.session().stats().connects <= 4);
  REQUIRE(!pair.node.sayings.empty());
  CHECK(pair.node.sayings[0].contains("speaks protocol versions 1 to 1"));
}

}  // namespace
}  // namespace l4::test
