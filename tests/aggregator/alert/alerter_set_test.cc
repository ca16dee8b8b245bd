// Changes of sinks, silences and times while alerts are sent and wait.
#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "tests/aggregator/alert/sink_world.h"

namespace l4::alert {
namespace {

AlerterOptions only(std::vector<SinkOptions> sinks) {
  AlerterOptions made = options();
  made.sinks = std::move(sinks);
  return made;
}

SinkOptions chat(const std::string& url = "http://chat") {
  return {.name = "chat", .kind = &kSlack, .url = url};
}
SinkOptions pager() {
  return {.name = "pager", .kind = &kPagerDuty, .url = "http://pager"};
}

TEST_CASE("set: a new sink gets the open alerts, once; the others do not get them again") {
  World world;
  store::Database database = world.database();
  Alerter alerter(only({chat()}), database, world.hooks());
  CHECK(alerter.send(alert("over")).has_value());
  CHECK(alerter.send(alert("over", Kind::resolved)).has_value());
  CHECK(alerter.send(alert("open")).has_value());
  Alert worse = alert("open", Kind::changed);
  worse.summary = "it is worse";
  CHECK(alerter.send(worse).has_value());
  REQUIRE(world.wait([&] { return world.count("http://chat") == 4; }));
  alerter.set(only({chat(), pager()}));
  REQUIRE(world.wait([&] { return world.count("http://pager") == 1; }));
  CHECK(holds(world.body("http://pager", 0), "trigger"));
  CHECK(holds(world.body("http://pager", 0), "it is worse"));
  CHECK(world.said("alerts to pager (pagerduty): is told what stands open: 1"));
  alerter.set(only({chat(), pager()}));
  CHECK(alerter.send(alert("open", Kind::resolved)).has_value());
  REQUIRE(world.wait([&] { return world.count("http://pager") == 2; }));
  CHECK(holds(world.body("http://pager", 1), "resolve"));
  world.rest();
  CHECK(world.count("http://chat") == 5);
  CHECK(world.count("http://pager") == 2);
}

TEST_CASE("set: an alert that is no longer repeated does not go to a new sink either") {
  World world;
  store::Database database = world.database();
  AlerterOptions with_silence = only({chat()});
  with_silence.silences = {
      {.filter = {.jobs = {"test-*"}}, .until = TimeMs{Millis{world.clock + 600'000'000}}}};
  Alerter alerter(with_silence, database, world.hooks());
  CHECK(alerter.send(alert("old")).has_value());
  world.pass(86'400);
  Alert quiet = alert("test-1");
  quiet.at = TimeMs{Millis{world.clock.load()}};
  CHECK(alerter.send(quiet).has_value());
  with_silence.sinks.push_back(pager());
  alerter.set(with_silence);
  world.rest();
  CHECK(world.count("http://pager") == 0);
  CHECK_FALSE(world.said("stands open"));
}

TEST_CASE("set: rows that wait for a removed sink are dropped and counted") {
  World world;
  world.set("http://pager", 503);
  store::Database database = world.database();
  Alerter alerter(only({chat(), pager()}), database, world.hooks());
  for (const char* job : {"a", "b", "c"}) CHECK(alerter.send(alert(job)).has_value());
  REQUIRE(world.wait([&] { return world.count("http://chat") == 3; }));
  REQUIRE(world.wait([&] { return alerter.stats().failures == 1; }));
  alerter.set(only({chat()}));
  CHECK(world.said(
      "alerts to pager (pagerduty): taken out; alerts that waited for it and are dropped: 3"));
  CHECK(database.due("pager", TimeMs::max(), 9)->empty());
  const AlerterStats stats = alerter.stats();
  CHECK(stats.sinks.size() == 1);
  CHECK(stats.dropped == 3);
  CHECK(stats.failures == 1);  // the counts of a removed sink stay in the sums
  world.heal();
  alerter.set(only({chat(), pager()}));
  // Those alerts are still open.
  REQUIRE(world.wait([&] { return world.count("http://pager") == 3; }));
}

TEST_CASE("set: repetitions for a removed Alertmanager are no lost deliveries") {
  World world;
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  CHECK(alerter.send(alert("a")).has_value());
  REQUIRE(world.wait([&] { return world.count(kManager) == 1; }));
  REQUIRE(world.wait([&] { return alerter.stats().sinks.at(0).waiting == 0; }));
  alerter.set(only({}));
  CHECK(
      world.said("alerts to am (alertmanager): taken out; alerts that waited for it and are "
                 "dropped: 0"));
  CHECK(database.sinks()->empty());
}

TEST_CASE("set: a new address gets the waiting rows at once, none lost and none twice") {
  World world;
  world.set("http://chat", 503);
  store::Database database = world.database();
  Alerter alerter(only({chat()}), database, world.hooks());
  for (const char* job : {"a", "b", "c"}) CHECK(alerter.send(alert(job)).has_value());
  REQUIRE(world.wait([&] { return alerter.stats().failures == 1; }));
  alerter.set(only({chat("http://better")}));
  REQUIRE(world.wait([&] { return world.count("http://better") == 3; }));
  CHECK(holds(world.body("http://better", 0), "it is a"));
  CHECK(holds(world.body("http://better", 2), "it is c"));
  world.rest();
  CHECK(world.count("http://better") == 3);
  CHECK(alerter.stats().dropped == 0);
}

TEST_CASE("set: another kind under the same name is another sink") {
  World world;
  world.set("http://chat", 503);
  store::Database database = world.database();
  Alerter alerter(only({chat()}), database, world.hooks());
  CHECK(alerter.send(alert("a")).has_value());
  REQUIRE(world.wait([&] { return alerter.stats().failures == 1; }));
  alerter.set(only({{.name = "chat", .kind = &kPagerDuty, .url = "http://new"}}));
  REQUIRE(world.wait([&] { return world.count("http://new") == 1; }));
  CHECK(holds(world.body("http://new", 0), "trigger"));
  CHECK(
      world.said("alerts to chat (slack): taken out; alerts that waited for it and are dropped: "
                 "1"));
}

TEST_CASE("set: silences, filters, storms and the name of the source change at once") {
  World world;
  store::Database database = world.database();
  AlerterOptions now = only({chat()});
  now.sinks[0].filters = {{.jobs = {"prod-*"}}};
  now.storm.incidents = 1;
  Alerter alerter(now, database, world.hooks());
  CHECK(alerter.send(alert("other")).has_value());
  CHECK(alerter.send(alert("prod-1")).has_value());
  REQUIRE(world.wait([&] { return world.count("http://chat") == 1; }));
  now.sinks[0].filters.clear();
  now.silences = {{.filter = {.jobs = {"test-*"}}, .until = TimeMs{Millis{world.clock + 60'000}}}};
  now.storm.incidents = 0;
  now.origin.source = "other-name";
  alerter.set(now);
  CHECK(alerter.origin().source == "other-name");
  REQUIRE(world.wait([&] { return world.count("http://chat") == 2; }));
  CHECK(holds(world.body("http://chat", 1), "it is other"));  // the new filter matches this alert
  CHECK(alerter.send(alert("test-1")).has_value());
  CHECK(alerter.send(alert("x")).has_value());
  CHECK(alerter.send(alert("y")).has_value());
  REQUIRE(world.wait([&] { return world.count("http://chat") == 4; }));
  CHECK(holds(world.body("http://chat", 3), "it is y"));
  CHECK(world.said("silenced until"));
  CHECK(alerter.stats().grouped == 0);
}

TEST_CASE("set: changes while the aggregator was down are seen at the start") {
  World world;
  {
    store::Database database = world.database();
    world.set("http://pager", 503);
    Alerter alerter(only({chat(), pager()}), database, world.hooks());
    CHECK(alerter.send(alert("a")).has_value());
    REQUIRE(world.wait([&] { return world.count("http://chat") == 1; }));
    REQUIRE(world.wait([&] { return alerter.stats().failures == 1; }));
  }
  store::Database database = world.database();
  const SinkOptions hook{.name = "hook", .url = "http://hook"};
  Alerter alerter(only({chat(), hook}), database, world.hooks(), {alert("a")});
  REQUIRE(world.wait([&] { return world.count("http://hook") == 1; }));
  CHECK(world.said("alerts to pager: taken out; alerts that waited for it and are dropped: 1"));
  // Everything is delivered, and pager has no row.
  CHECK(world.wait([&] { return database.sinks()->empty(); }));
  world.rest();
  CHECK(world.count("http://chat") == 1);
}

TEST_CASE("set: a database without a list of sinks does not repeat all alerts") {
  World world;
  {
    store::Database database = world.database();
    Alerter alerter(only({chat()}), database, world.hooks());
    CHECK(alerter.send(alert("a")).has_value());
    REQUIRE(world.wait([&] { return world.count("http://chat") == 1; }));
  }
  store::Database database = world.database();
  REQUIRE(database.withdraw("/sinks", "all"));
  Alerter alerter(only({chat()}), database, world.hooks(), {alert("a")});
  world.rest();
  CHECK(world.count("http://chat") == 1);
}

TEST_CASE("set: all alerts that several threads send meanwhile arrive") {
  World world;
  store::Database database = world.database();
  AlerterOptions calm = only({chat()});
  calm.storm.incidents = 0;
  Alerter alerter(calm, database, world.hooks());
  constexpr int kThreads = 3, kEach = 40;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kEach; ++i)
          CHECK(alerter.send(alert("job-" + std::to_string(thread) + "-" + std::to_string(i) + "!"))
                    .has_value());
      });
    for (int i = 0; i < 20; ++i) {
      AlerterOptions next = calm;
      next.sinks = {chat(i % 2 == 0 ? "http://even" : "http://chat")};
      if (i % 3 == 0) next.sinks.push_back(pager());
      alerter.set(next);
      static_cast<void>(alerter.stats());
    }
  }
  const auto arrived = [&] {
    std::set<std::string> jobs;
    const std::lock_guard lock(world.mutex);
    for (const char* url : {"http://even", "http://chat"})
      for (const std::string& body : world.bodies[url]) {
        const std::size_t from = body.find("it is job-"), to = body.find('!', from);
        jobs.insert(body.substr(from, to - from));
      }
    return jobs.size();
  };
  CHECK(world.wait([&] { return arrived() == kThreads * kEach; }));
}

}  // namespace
}  // namespace l4::alert
