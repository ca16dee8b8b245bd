// A test of the sinks: each says for itself whether it took the test alert.
#include "aggregator/alert/trial.h"

#include <doctest/doctest.h>

#include <mutex>
#include <optional>

#include "tests/aggregator/alert/sink_world.h"

namespace l4::alert {
namespace {

/// What a test answered; another thread may set it.
struct Heard {
  TrialThen then() {
    return [this](std::vector<TrialRow> got) {
      const std::lock_guard lock(mutex);
      ++times;
      rows = std::move(got);
    };
  }
  bool done() {
    const std::lock_guard lock(mutex);
    return times > 0;
  }

  std::mutex mutex;
  int times = 0;
  std::vector<TrialRow> rows;
};

TEST_CASE("trial: each sink answers for itself, whatever it accepts") {
  World world;
  world.set("http://chat", 403);
  store::Database database = world.database();
  AlerterOptions with = l4::alert::options();
  with.sinks[2].severity_min = Severity::critical;
  Alerter alerter(with, database, world.hooks());
  Heard heard;
  REQUIRE(alerter.test("", "ops", heard.then()).has_value());
  REQUIRE(world.wait([&] { return heard.done(); }));
  REQUIRE(heard.rows.size() == 3);
  CHECK(heard.rows[0].took);
  CHECK(heard.rows[0].kind == "alertmanager");
  CHECK_FALSE(heard.rows[1].took);
  CHECK(heard.rows[1].why_not == "answered 403");
  CHECK(heard.rows[2].took);
  CHECK(holds(world.body(kManager, 0), "L4Test"));
  CHECK(holds(world.body(kManager, 0), "asked for by ops"));
  // A pager keeps what it is told open until its end comes.
  CHECK(world.count("http://pager") == 2);
  CHECK(holds(world.body("http://pager", 1), "resolve"));
  const AlerterStats stats = alerter.stats();
  CHECK(stats.alerts == 0);
  CHECK(stats.posted == 0);
  CHECK(stats.sinks.at(1).trouble == "answered 403");
  CHECK(stats.sinks.at(0).trouble.empty());
  CHECK(stats.sinks.at(0).tried.has_value());
  CHECK(database.due("chat", TimeMs::max(), 10)->empty());  // a test is never sent again
  CHECK(to_line(heard.rows, "ops") ==
        "test alert, asked for by ops: am took it; chat did not take it: answered 403; pager took "
        "it");
}

TEST_CASE("trial: one sink, none, and a name that is none") {
  World world;
  store::Database database = world.database();
  Heard heard;
  {
    Alerter alerter(l4::alert::options(), database, world.hooks());
    REQUIRE(alerter.test("chat", "ops", heard.then()).has_value());
    REQUIRE(world.wait([&] { return heard.done(); }));
    CHECK(heard.rows.size() == 1);
    CHECK(world.count("http://pager") == 0);
    const auto refused = alerter.test("chta", "ops", heard.then());
    REQUIRE_FALSE(refused.has_value());
    CHECK_FALSE(refused.error().under_way);
    CHECK(refused.error().message == "there is no sink chta; there are am, chat, pager");
  }
  Heard nothing;
  Alerter alerter({}, database, world.hooks());
  REQUIRE(alerter.test("", "ops", nothing.then()).has_value());
  CHECK(nothing.done());
  CHECK(nothing.rows.empty());
  CHECK_FALSE(alerter.test("chat", "ops", nothing.then()).has_value());
}

TEST_CASE("trial: a sink that takes the test gets at once what it refused before") {
  World world;
  world.set("http://chat", 0);
  store::Database database = world.database();
  Alerter alerter(l4::alert::options(), database, world.hooks());
  send(alerter, l4::alert::alert("a"));
  REQUIRE(world.wait([&] { return alerter.stats().sinks.at(1).failures == 1; }));
  CHECK(holds(alerter.stats().sinks.at(1).trouble, "connection refused"));
  world.heal();
  Heard heard;
  REQUIRE(alerter.test("chat", "ops", heard.then()).has_value());
  REQUIRE(world.wait([&] { return world.count("http://chat") == 2; }));  // the clock stands
  CHECK(holds(world.body("http://chat", 0), "[test]"));
  CHECK(holds(world.body("http://chat", 1), "it is a"));
}

TEST_CASE("trial: a sender that is busy for too long is given up, and one test runs at a time") {
  World world;
  store::Database database = world.database();
  std::mutex gate;
  std::unique_lock closed(gate);
  Hooks hooks = world.hooks();
  hooks.post = [&](const Request& request) {
    if (request.url == "http://chat") const std::lock_guard waits(gate);
    return world.post(request);
  };
  Alerter alerter(l4::alert::options(), database, hooks);
  Heard heard, second;
  REQUIRE(alerter.test("", "ops", heard.then()).has_value());
  const auto refused = alerter.test("", "ops", second.then());
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().under_way);
  REQUIRE(world.wait([&] { return world.count("http://pager") == 2; }));
  CHECK_FALSE(heard.done());
  world.pass(21);
  alerter.poll();
  REQUIRE(heard.done());
  CHECK(heard.rows.at(1).why_not == "no answer within 20.0 s");
  closed.unlock();
  REQUIRE(world.wait([&] { return world.count("http://chat") == 1; }));
  CHECK(heard.times == 1);  // the late answer changes nothing
  REQUIRE(alerter.test("am", "ops", second.then()).has_value());
  REQUIRE(world.wait([&] { return second.done(); }));
}

}  // namespace
}  // namespace l4::alert
