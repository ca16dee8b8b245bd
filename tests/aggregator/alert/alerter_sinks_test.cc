// Several sinks at once: each with its own rows, pace and trouble. The clock is the test's.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/aggregator/alert/sink_world.h"

namespace l4::alert {
namespace {

TEST_CASE("sinks: the trouble of one does not delay another, and it backs off") {
  World world;
  world.set("http://chat", 0);
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  alerter.send(alert("a"));
  alerter.send(alert("a", Kind::resolved));
  REQUIRE(world.wait([&] { return world.count("http://pager") == 2; }));
  CHECK(holds(world.body("http://pager", 0), "trigger"));
  CHECK(holds(world.body("http://pager", 1), "resolve"));
  world.rest();
  {
    const std::lock_guard lock(world.mutex);
    CHECK(world.tries["http://chat"] == 1);  // it rests until the clock moves
  }
  world.pass(1);
  REQUIRE(world.wait([&] {
    const std::lock_guard lock(world.mutex);
    return world.tries["http://chat"] == 2;
  }));
  CHECK(world.count("http://chat") == 0);
  world.heal();
  world.pass(3);
  REQUIRE(world.wait([&] { return world.count("http://chat") == 2; }));
  CHECK(holds(world.body("http://chat", 0), "critical"));  // in the order in which they came
  CHECK(holds(world.body("http://chat", 1), "resolved"));
  REQUIRE(world.wait([&] { return alerter.stats().sinks.at(1).waiting == 0; }));
  const SinkStats chat = alerter.stats().sinks.at(1);
  CHECK(chat.sink == "chat");
  CHECK(chat.posted == 2);
  CHECK(chat.failures == 2);
  CHECK(alerter.stats().sinks.at(2).failures == 0);
}

TEST_CASE("sinks: alertmanager is told again what is open, after a restart, too, until it ends") {
  World world;
  {
    store::Database database = world.database();
    Alerter alerter(options(), database, world.hooks());
    alerter.send(alert("a"));
    REQUIRE(world.wait([&] { return world.count(kManager) == 1; }));
    world.pass(59);
    world.rest();
    CHECK(world.count(kManager) == 1);
    world.pass(1);
    REQUIRE(world.wait([&] { return world.count(kManager) == 2; }));
  }
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  world.pass(60);
  REQUIRE(world.wait([&] { return world.count(kManager) == 3; }));
  CHECK(world.body(kManager, 2) == world.body(kManager, 0));
  alerter.send(alert("a", Kind::resolved));
  REQUIRE(world.wait([&] { return world.count(kManager) == 4; }));
  CHECK(holds(world.body(kManager, 3), "endsAt"));
  world.pass(600);
  world.rest();
  CHECK(world.count(kManager) == 4);
  CHECK(world.count("http://chat") == 2);  // these are told once
}

TEST_CASE("sinks: what has no news for a day is not told again any more") {
  World world;
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  alerter.send(alert("a"));
  REQUIRE(world.wait([&] { return world.count(kManager) == 1; }));
  world.pass(86'400);
  REQUIRE(world.wait([&] { return database.due("am", TimeMs::max(), 9)->empty(); }));
  CHECK(world.count(kManager) == 1);
}

TEST_CASE("sinks: many open alerts go to alertmanager in few requests") {
  World world;
  world.set(kManager, 0);
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  for (int i = 0; i < 100; ++i) alerter.send(alert("job-" + std::to_string(i)));
  world.heal();
  world.pass(400);
  REQUIRE(world.wait([&] { return database.due("am", TimeMs{Millis{world.clock}}, 1)->empty(); }));
  CHECK(world.count(kManager) == 2);
}

TEST_CASE("sinks: a storm is told together, alertmanager and the old webhook get all") {
  World world;
  AlerterOptions many = options();
  many.webhook = "http://old";
  many.storm.incidents = 3;
  {
    store::Database database = world.database();
    Alerter alerter(many, database, world.hooks());
    for (int i = 0; i < 10; ++i) alerter.send(alert("job-" + std::to_string(i)));
    REQUIRE(world.wait([&] { return world.count("http://old") == 10; }));
    REQUIRE(world.wait([&] { return world.count("http://chat") == 3; }));
    world.pass(30);
    REQUIRE(world.wait([&] { return world.count("http://chat") == 4; }));
    CHECK(holds(world.body("http://chat", 3), "7 more incidents within 30.0 s: job-3 (crashed)"));
    REQUIRE(world.wait([&] { return world.count("http://pager") == 4; }));
    CHECK(alerter.stats().grouped == 14);
    CHECK(database.due("am", TimeMs::max(), 99)->size() == 10);
  }
  store::Database database = world.database();
  Alerter alerter(many, database, world.hooks());
  for (int i = 3; i < 10; ++i) alerter.send(alert("job-" + std::to_string(i), Kind::resolved));
  REQUIRE(world.wait([&] { return world.count("http://pager") == 5; }));
  CHECK(holds(world.body("http://pager", 4), "resolve"));
  CHECK(holds(world.body("http://pager", 4), "l4-aggregator/storm."));
  CHECK(database.due("pager/storm", TimeMs::max(), 9)->empty());
}

TEST_CASE("sinks: what is silenced is in the log alone, apart from an end") {
  World world;
  store::Database database = world.database();
  AlerterOptions quiet = options();
  quiet.silences = {{"test-*", TimeMs{Millis{world.clock + 60'000}}}};
  Alerter alerter(quiet, database, world.hooks());
  alerter.send(alert("test-1"));
  alerter.send(alert("other"));
  alerter.send(alert("test-1", Kind::resolved));
  REQUIRE(world.wait([&] { return world.count("http://pager") == 2; }));
  REQUIRE(world.wait([&] { return world.count("http://chat") == 1; }));
  CHECK(holds(world.body("http://pager", 0), "job other"));
  CHECK(holds(world.body("http://pager", 1), "resolve"));
  {
    const std::lock_guard lock(world.mutex);
    CHECK(world.lines.at(0).starts_with("silenced until 1970-01-12T13:47:40.000Z: alert opened"));
    CHECK(world.lines.at(1).starts_with("alert opened: job other"));
  }
  CHECK(alerter.stats().silenced == 2);
  world.pass(60);
  alerter.send(alert("test-2"));
  REQUIRE(world.wait([&] { return world.count("http://chat") == 2; }));
}

TEST_CASE("sinks: blindness of before a restart does not stay open") {
  World world;
  {
    store::Database database = world.database();
    Alerter alerter(options(), database, world.hooks());
    Alert blind;
    blind.kind = Kind::blind;
    alerter.send(blind);
    REQUIRE(world.wait([&] { return world.count(kManager) == 1; }));
  }
  for (int start = 0; start < 2; ++start) {
    store::Database database = world.database();
    Alerter alerter(options(), database, world.hooks());
    REQUIRE(world.wait([&] { return world.count(kManager) == 2; }));
    CHECK(holds(world.body(kManager, 1), "L4AggregatorBlind"));
    CHECK(holds(world.body(kManager, 1), "endsAt"));
    world.pass(120);
    world.rest();
    CHECK(world.count(kManager) == 2);
  }
}

TEST_CASE("sinks: an alert that is refused again and again does not hold up the others") {
  World world;
  world.set("http://chat", 400);
  world.refused = "it is bad";
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  alerter.send(alert("bad"));
  alerter.send(alert("good"));
  for (int i = 0; i < 8; ++i) {
    REQUIRE(world.wait([&] {
      const std::lock_guard lock(world.mutex);
      return world.tries["http://chat"] > i;
    }));
    world.rest();
    world.pass(300);
  }
  REQUIRE(world.wait([&] { return world.count("http://chat") == 1; }));
  CHECK(holds(world.body("http://chat", 0), "it is good"));
  CHECK(database.due("chat", TimeMs::max(), 9)->size() == 1);
}

TEST_CASE("sinks: they end together, however long each waits") {
  World world;
  AlerterOptions slow;
  for (int i = 0; i < 4; ++i)
    slow.sinks.push_back({.name = "s" + std::to_string(i), .url = "http://slow"});
  std::atomic<int> waits{0};
  Hooks hooks = world.hooks();
  hooks.post = [&waits](const Request&) -> Result<unsigned> {
    ++waits;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return 200;
  };
  store::Database database = world.database();
  auto alerter = std::make_unique<Alerter>(slow, database, hooks);
  alerter->send(alert("a"));
  alerter->send(alert("b"));
  REQUIRE(world.wait([&] { return waits >= 4; }));
  const auto began = std::chrono::steady_clock::now();
  alerter.reset();
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::milliseconds(1'400));
  CHECK(waits == 4);  // what comes next waits for the next start
}

TEST_CASE("sinks: rows of one are bounded, and what goes is counted") {
  World world;
  world.set("http://chat", 503);
  AlerterOptions few = options();
  few.sender.stored_max = 5;
  few.storm.incidents = 0;
  store::Database database = world.database();
  Alerter alerter(few, database, world.hooks());
  for (int i = 0; i < 20; ++i) alerter.send(alert("job-" + std::to_string(i)));
  world.pass(60);
  REQUIRE(world.wait([&] { return database.due("chat", TimeMs::max(), 99)->size() == 5; }));
  REQUIRE(world.wait([&] { return alerter.stats().sinks.at(1).dropped == 15; }));
  CHECK(alerter.stats().sinks.at(2).dropped == 0);
}

}  // namespace
}  // namespace l4::alert
