// Several sinks at once, each with its own rows, pace and failures. The test sets the clock.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/aggregator/alert/sink_world.h"

namespace l4::alert {
namespace {

TEST_CASE("sinks: failures of one sink do not delay another, and it backs off") {
  World world;
  world.set("http://chat", 0);
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  send(alerter, alert("a"));
  send(alerter, alert("a", Kind::resolved));
  REQUIRE(world.wait([&] { return world.count("http://pager") == 2; }));
  CHECK(holds(world.body("http://pager", 0), "trigger"));
  CHECK(holds(world.body("http://pager", 1), "resolve"));
  world.rest();
  {
    const std::lock_guard lock(world.mutex);
    CHECK(world.tries["http://chat"] == 1);  // the sink rests until the clock moves
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
  CHECK(holds(world.body("http://chat", 0), "critical"));  // in the order of the alerts
  CHECK(holds(world.body("http://chat", 1), "resolved"));
  REQUIRE(world.wait([&] { return alerter.stats().sinks.at(1).waiting == 0; }));
  const SinkStats chat = alerter.stats().sinks.at(1);
  CHECK(chat.sink == "chat");
  CHECK(chat.posted == 2);
  CHECK(chat.failures == 2);
  CHECK(alerter.stats().sinks.at(2).failures == 0);
}

TEST_CASE("sinks: alertmanager gets open alerts again, also after a restart, until they end") {
  World world;
  {
    store::Database database = world.database();
    Alerter alerter(options(), database, world.hooks());
    send(alerter, alert("a"));
    REQUIRE(world.wait([&] { return world.count(kManager) == 1; }));
    REQUIRE(world.settle(database));
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
  send(alerter, alert("a", Kind::resolved));
  REQUIRE(world.wait([&] { return world.count(kManager) == 4; }));
  CHECK(holds(world.body(kManager, 3), "endsAt"));
  world.pass(600);
  world.rest();
  CHECK(world.count(kManager) == 4);
  CHECK(world.count("http://chat") == 2);  // other sinks get each alert once
}

TEST_CASE("sinks: an alert without news for a day is not repeated any more") {
  World world;
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  send(alerter, alert("a"));
  REQUIRE(world.wait([&] { return world.count(kManager) == 1; }));
  REQUIRE(world.settle(database));
  world.pass(86'400);
  REQUIRE(world.wait([&] { return database.due("am", TimeMs::max(), 9)->empty(); }));
  CHECK(world.count(kManager) == 1);
}

TEST_CASE("sinks: the blindness of the aggregator is repeated for more than a day") {
  World world;
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  Alert blind;
  blind.kind = Kind::blind;
  send(alerter, blind);
  REQUIRE(world.wait([&] { return world.count(kManager) == 1; }));
  for (int half_days = 1; half_days <= 6; ++half_days) {
    world.pass(43'200);
    const std::size_t before = world.count(kManager);
    alerter.poll();
    REQUIRE(world.wait([&] { return world.count(kManager) > before; }));
  }
  REQUIRE(world.settle(database));
  const std::size_t before = world.count(kManager);
  world.pass(61);
  REQUIRE(world.wait([&] { return world.count(kManager) > before; }));
  CHECK(world.count("http://chat") == 1);
}

TEST_CASE("sinks: many open alerts go to alertmanager in few requests") {
  World world;
  world.set(kManager, 0);
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  for (int i = 0; i < 100; ++i) send(alerter, alert("job-" + std::to_string(i)));
  world.heal();
  world.pass(400);
  REQUIRE(world.wait([&] { return database.due("am", TimeMs{Millis{world.clock}}, 1)->empty(); }));
  CHECK(world.count(kManager) == 2);
}

TEST_CASE("sinks: a storm is one alert; alertmanager and the old webhook get all incidents") {
  World world;
  AlerterOptions many = options();
  many.webhook = "http://old";
  many.storm.incidents = 3;
  {
    store::Database database = world.database();
    Alerter alerter(many, database, world.hooks());
    for (int i = 0; i < 10; ++i) send(alerter, alert("job-" + std::to_string(i)));
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
  for (int i = 3; i < 10; ++i) send(alerter, alert("job-" + std::to_string(i), Kind::resolved));
  REQUIRE(world.wait([&] { return world.count("http://pager") == 5; }));
  CHECK(holds(world.body("http://pager", 4), "resolve"));
  CHECK(holds(world.body("http://pager", 4), "l4-aggregator/storm."));
  CHECK(database.due("pager/storm", TimeMs::max(), 9)->empty());
}

TEST_CASE("sinks: a silenced alert is only logged, unless it ends another") {
  World world;
  store::Database database = world.database();
  AlerterOptions quiet = options();
  quiet.silences = {
      {.filter = {.jobs = {"test-*"}}, .until = TimeMs{Millis{world.clock + 60'000}}}};
  Alerter alerter(quiet, database, world.hooks());
  send(alerter, alert("test-1"));
  send(alerter, alert("other"));
  send(alerter, alert("test-1", Kind::resolved));
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
  send(alerter, alert("test-2"));
  REQUIRE(world.wait([&] { return world.count("http://chat") == 2; }));
}

TEST_CASE("sinks: an alert that is open when its silence ends is sent then, once") {
  World world;
  AlerterOptions quiet = options();
  quiet.silences = {
      {.filter = {.jobs = {"test-*"}}, .until = TimeMs{Millis{world.clock + 60'000}}}};
  {
    store::Database database = world.database();
    Alerter alerter(quiet, database, world.hooks());
    send(alerter, alert("test-1"));
    send(alerter, alert("test-2"));
    send(alerter, alert("test-2", Kind::resolved));
    send(alerter, alert("test-3"));
    world.pass(59);
    alerter.poll();
    world.rest();
    CHECK(world.count("http://chat") == 0);
    CHECK(database.due("/silenced", TimeMs::max(), 9)->size() == 2);
  }
  // The marks survive a restart, and the alert is not sent twice.
  store::Database database = world.database();
  Alerter alerter(quiet, database, world.hooks(), {alert("test-1"), alert("test-3")});
  alerter.poll();
  world.rest();
  CHECK(world.count("http://chat") == 0);
  world.pass(1);
  alerter.poll();
  alerter.poll();
  REQUIRE(world.wait([&] { return world.count("http://chat") == 2; }));
  CHECK(holds(world.body("http://chat", 0), "job test-1"));
  REQUIRE(world.wait([&] { return world.count(kManager) >= 1; }));
  CHECK(world.said("no longer held back: alert opened: job test-1"));
  CHECK(database.due("/silenced", TimeMs::max(), 9)->empty());
  world.rest();
  CHECK(world.count("http://chat") == 2);
}

TEST_CASE("sinks: an alert that changed during a silence is a change when it ends") {
  World world;
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  send(alerter, alert("test-1"));
  REQUIRE(world.wait([&] { return world.count("http://chat") == 1; }));
  AlerterOptions quiet = options();
  quiet.silences = {
      {.filter = {.jobs = {"test-*"}}, .until = TimeMs{Millis{world.clock + 60'000}}}};
  alerter.set(quiet);
  Alert changed = alert("test-1", Kind::changed);
  changed.state = State::node_lost;
  send(alerter, changed);
  alerter.set(options());  // the silence is removed
  REQUIRE(world.wait([&] { return world.count("http://chat") == 2; }));
  CHECK(holds(world.body("http://chat", 1), "node_lost"));
  CHECK(world.said("no longer held back: alert changed"));
}

TEST_CASE("sinks: a sink for storms alone gets nothing else") {
  World world;
  store::Database database = world.database();
  AlerterOptions storms = options();
  storms.storm.incidents = 2;
  storms.sinks[1].filters = {{.topics = {Topic::storm}}};
  Alerter alerter(storms, database, world.hooks());
  for (const char* job : {"a", "b", "c", "d"}) send(alerter, alert(job));
  world.pass(30);
  REQUIRE(world.wait([&] { return world.count("http://chat") == 1; }));
  CHECK(holds(world.body("http://chat", 0), "2 more incidents"));
  REQUIRE(world.wait([&] { return world.count("http://pager") == 3; }));
  for (const char* job : {"a", "b", "c", "d"}) send(alerter, alert(job, Kind::resolved));
  REQUIRE(world.wait([&] { return world.count("http://chat") == 2; }));
  CHECK(holds(world.body("http://chat", 1), "told together are resolved"));
}

TEST_CASE("sinks: an end goes to the sinks that got its node and fault") {
  World world;
  store::Database database = world.database();
  AlerterOptions some = options();
  some.sinks[1].filters = {{.nodes = {"rack-1-*"}, .categories = {"hardware*"}}};
  Alerter alerter(some, database, world.hooks());
  Alert hardware = alert("a");
  hardware.nodes = {"rack-1-7"};
  hardware.faults = {{"xid-79", "", "", "", "hardware/gpu"}};
  send(alerter, hardware);
  send(alerter, alert("b"));
  send(alerter, alert("b", Kind::resolved));
  send(alerter, alert("a", Kind::resolved));
  REQUIRE(world.wait([&] { return world.count("http://chat") == 2; }));
  CHECK(holds(world.body("http://chat", 1), "job a"));
  CHECK(holds(world.body("http://chat", 1), "resolved"));
}

TEST_CASE("sinks: alertmanager gets repetitions also without a database") {
  World world;
  store::Database database(world.folder.path() / "nowhere" / "state.db", {});
  Alerter alerter(options(), database, world.hooks());
  Alert bad;
  bad.kind = Kind::degraded;
  bad.summary = "no disk";
  CHECK_FALSE(alerter.send(bad));
  REQUIRE(world.wait([&] { return world.count(kManager) == 1; }));
  CHECK(holds(world.body(kManager, 0), "L4Degraded"));
  CHECK(world.wait([&] { return alerter.stats().waiting == 0; }));  // a moment after the post
  world.pass(60);
  REQUIRE(world.wait([&] { return world.count(kManager) == 2; }));
  CHECK(world.body(kManager, 1) == world.body(kManager, 0));
  std::filesystem::create_directories(world.folder.path() / "nowhere");
  Alert well = bad;
  well.kind = Kind::well_again;
  REQUIRE(world.wait([&] { return alerter.send(well).has_value(); }));
  REQUIRE(world.wait([&] { return world.count(kManager) >= 3; }));
  CHECK(holds(world.body(kManager, 2), "endsAt"));
  world.rest();
  const std::size_t told = world.count(kManager);
  world.pass(600);
  world.rest();
  CHECK(world.count(kManager) == told);
  CHECK(world.count("http://chat") >= 2);
}

TEST_CASE("sinks: a failure from before a restart does not stay open") {
  World world;
  {
    store::Database database = world.database();
    Alerter alerter(options(), database, world.hooks());
    Alert bad;
    bad.kind = Kind::degraded;
    send(alerter, bad);
    REQUIRE(world.wait([&] { return world.count("http://pager") == 1; }));
  }
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  REQUIRE(world.wait([&] { return world.count("http://pager") == 2; }));
  CHECK(holds(world.body("http://pager", 1), "resolve"));
  CHECK(holds(world.body("http://pager", 1), "l4-aggregator/degraded"));
}

TEST_CASE("sinks: a blindness from before a restart does not stay open") {
  World world;
  {
    store::Database database = world.database();
    Alerter alerter(options(), database, world.hooks());
    Alert blind;
    blind.kind = Kind::blind;
    send(alerter, blind);
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
  send(alerter, alert("bad"));
  send(alerter, alert("good"));
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

TEST_CASE("sinks: all senders end together, however long each waits") {
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
  send(*alerter, alert("a"));
  send(*alerter, alert("b"));
  REQUIRE(world.wait([&] { return waits >= 4; }));
  const auto began = std::chrono::steady_clock::now();
  alerter.reset();
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::milliseconds(1'400));
  CHECK(waits == 4);  // the other alert waits for the next start
}

TEST_CASE("sinks: the rows of a sink are bounded, and dropped ones counted") {
  World world;
  world.set("http://chat", 503);
  AlerterOptions few = options();
  few.sender.stored_max = 5;
  few.storm.incidents = 0;
  store::Database database = world.database();
  Alerter alerter(few, database, world.hooks());
  for (std::size_t i = 0; i < 20; ++i) {  // no alert waits long for the sink
    send(alerter, alert("job-" + std::to_string(i)));
    REQUIRE(world.wait([&] { return world.count("http://pager") == i + 1; }));
  }
  world.pass(60);
  REQUIRE(world.wait([&] { return database.due("chat", TimeMs::max(), 99)->size() == 5; }));
  REQUIRE(world.wait([&] { return alerter.stats().sinks.at(1).dropped == 15; }));
  CHECK(alerter.stats().sinks.at(2).dropped == 0);
}

}  // namespace
}  // namespace l4::alert
