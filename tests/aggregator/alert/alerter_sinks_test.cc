// Several sinks at once: each with its own rows, pace and trouble. The clock is the test's.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "aggregator/alert/alerter.h"
#include "tests/temp_folder.h"

namespace l4::alert {
namespace {

/// Receivers by URL, and a clock that stands until it is set.
struct World {
  store::Database database() const { return {folder.path() / "state.db", {}}; }
  Hooks hooks() {
    return {[this](const Request& request) { return post(request); },
            [this](const std::string& line) {
              const std::lock_guard lock(mutex);
              lines.push_back(line);
            },
            [this] { return TimeMs{Millis{clock.load()}}; }};
  }
  Result<unsigned> post(const Request& request) {
    const std::lock_guard lock(mutex);
    ++tries[request.url];
    if (const auto at = status.find(request.url); at != status.end()) {
      if (at->second == 0) return std::unexpected(Error{request.url, "connection refused"});
      if (refused.empty() || request.body.find(refused) != std::string::npos) return at->second;
    }
    bodies[request.url].push_back(request.body);
    return 200;
  }
  std::size_t count(const std::string& url) {
    const std::lock_guard lock(mutex);
    return bodies[url].size();
  }
  std::string body(const std::string& url, std::size_t at) {
    const std::lock_guard lock(mutex);
    return bodies[url].at(at);
  }
  void set(const std::string& url, unsigned answer) {
    const std::lock_guard lock(mutex);
    status[url] = answer;
  }
  void heal() {
    const std::lock_guard lock(mutex);
    status.clear();
  }
  bool wait(const std::function<bool()>& until) const {
    for (int i = 0; i < 5'000; ++i) {
      if (until()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  /// Long enough for a thread to have looked several times.
  void rest() const { std::this_thread::sleep_for(std::chrono::milliseconds(40)); }
  void pass(std::int64_t seconds) { clock += seconds * 1000; }

  test::TempFolder folder;
  std::atomic<std::int64_t> clock{1'000'000'000};
  std::mutex mutex;
  std::map<std::string, unsigned> status;  ///< 0: no answer
  std::string refused;                     ///< empty: everything
  std::map<std::string, int> tries;
  std::map<std::string, std::vector<std::string>> bodies;
  std::vector<std::string> lines;
};

constexpr auto kManager = "http://am/api/v2/alerts";

AlerterOptions options() {
  AlerterOptions made;
  made.sinks = {{.name = "am", .kind = SinkKind::alertmanager, .url = "http://am"},
                {.name = "chat", .kind = SinkKind::slack, .url = "http://chat"},
                {.name = "pager", .kind = SinkKind::pagerduty, .url = "http://pager"}};
  made.sender.look_every = Millis{2};
  return made;
}

Alert alert(const std::string& job, Kind kind = Kind::opened) {
  Alert made;
  made.kind = kind;
  made.job = job;
  made.incident = job + ".0.1";
  made.state = State::crashed;
  made.summary = "it is " + job;
  return made;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

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
