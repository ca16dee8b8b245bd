#include "aggregator/alert/alerter.h"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/temp_folder.h"

namespace l4::alert {
namespace {

/// A webhook that refuses the posts that the test names.
struct Hook {
  Alerter::Hooks hooks() {
    return {[this](const Request& request) { return post(request.body); },
            [this](const std::string& line) {
              const std::lock_guard lock(mutex);
              lines.push_back(line);
            },
            [] { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); }};
  }
  Result<unsigned> post(const std::string& body) {
    const std::lock_guard lock(mutex);
    ++tries;
    if (refuses > 0) {
      --refuses;
      if (refuses % 2 == 0) return 503;
      return std::unexpected(Error{"127.0.0.1:1", "connection refused"});
    }
    bodies.push_back(body);
    return 204;
  }
  bool wait(const std::function<bool()>& until) {
    for (int i = 0; i < 5'000; ++i) {
      {
        const std::lock_guard lock(mutex);
        if (until()) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  std::mutex mutex;
  int refuses = 0, tries = 0;
  std::vector<std::string> bodies, lines;
};

Alert crash(const std::string& job) {
  Alert alert;
  alert.incident = job + ".0.1";
  alert.job = job;
  alert.state = State::crashed;
  alert.summary = "rank 3 \"left\"";
  alert.nodes = {"n1", "n2"};
  alert.ranks = {Rank{3}};
  alert.faults = {{"xid-79", "GPU fell off the bus", "replace it", "PCIe", "hardware"}};
  return alert;
}

AlerterOptions one_sink() {
  AlerterOptions made;
  made.webhook = "http://127.0.0.1:1/";
  made.sender.retry_first = Millis{1};
  made.sender.retry_most = Millis{4};
  made.sender.poll_every = Millis{2};
  return made;
}

TEST_CASE("alerter: a line and a post, retried until it has arrived, in order") {
  test::TempFolder folder;
  store::Database database(folder.path() / "state.db", {});
  Hook hook;
  hook.refuses = 3;
  Alerter alerter(one_sink(), database, hook.hooks());
  CHECK(alerter.send(crash("a")).has_value());
  REQUIRE(hook.wait([&] { return hook.bodies.size() == 1; }));
  CHECK(hook.tries == 4);
  CHECK(hook.bodies[0].find("\"schema\": \"l4.alert/1\"") != std::string::npos);
  CHECK(hook.bodies[0].find("rank 3 \\\"left\\\"") != std::string::npos);
  CHECK(hook.bodies[0].find("\"ranks\": [3]") != std::string::npos);
  REQUIRE(hook.wait([&] { return hook.lines.size() == 3; }));
  CHECK(hook.lines[0] ==
        "alert opened: job a attempt 0: crashed: rank 3 \"left\"; first n1 "
        "(incident a.0.1)");
  CHECK(hook.lines[1].find("tried again") != std::string::npos);
  CHECK(hook.lines[2].find("works again") != std::string::npos);
  CHECK(alerter.stats().failures == 3);
}

TEST_CASE("alerter: a notice is an alert only where a sink asks for notices") {
  test::TempFolder folder;
  store::Database database(folder.path() / "state.db", {});
  Hook hook;
  AlerterOptions some = one_sink();
  Alerter alerter(some, database, hook.hooks());
  Alert notice;
  notice.kind = Kind::noticed;
  notice.job = "a";
  notice.notice = "a.0.node.n1";
  notice.summary = "node n1 alone prints \"link flap\"";
  CHECK(alerter.send(notice).has_value());
  CHECK(alerter.stats().alerts == 0);
  {
    const std::lock_guard lock(hook.mutex);
    CHECK(hook.lines.empty());
  }
  SinkOptions asks;
  asks.name = "notices";
  asks.url = "http://127.0.0.1:1/";
  asks.filters = {AlertFilter{.topics = {Topic::notice}}};
  some.sinks = {asks};
  notice.at = *parse_time("2026-11-20T10:00:00Z");
  alerter.set(some);  // told what stands open, unless it is too old
  notice.notice = "a.0.node.n2";
  CHECK(alerter.send(notice).has_value());
  REQUIRE(hook.wait([&] { return hook.bodies.size() == 1; }));
  CHECK(hook.bodies[0].find("\"alert\": \"noticed\"") != std::string::npos);
  CHECK(hook.bodies[0].find("\"notice\": \"a.0.node.n2\"") != std::string::npos);
  CHECK(alerter.stats().alerts == 1);
}

TEST_CASE("alerter: unsent alerts are sent after a restart, once") {
  test::TempFolder folder;
  Hook hook;
  hook.refuses = 1'000'000;
  {
    store::Database database(folder.path() / "state.db", {});
    Alerter alerter(one_sink(), database, hook.hooks());
    CHECK(alerter.send(crash("a")).has_value());
    REQUIRE(hook.wait([&] { return hook.tries > 0; }));
  }
  {
    const std::lock_guard lock(hook.mutex);
    hook.refuses = 0;
  }
  {
    store::Database database(folder.path() / "state.db", {});
    Alerter alerter(one_sink(), database, hook.hooks());
    REQUIRE(hook.wait([&] { return hook.bodies.size() == 1; }));
  }
  store::Database database(folder.path() / "state.db", {});
  Alerter alerter(one_sink(), database, hook.hooks());
  CHECK(alerter.send(crash("b")).has_value());
  REQUIRE(hook.wait([&] { return hook.bodies.size() == 2; }));
  CHECK(hook.bodies[1].find("\"job\": \"b\"") != std::string::npos);
}

TEST_CASE("alerter: without a database memory is bounded and the oldest alert dropped") {
  test::TempFolder folder;
  store::Database database(folder.path() / "nowhere" / "state.db", {});
  Hook hook;
  hook.refuses = 1'000'000;
  AlerterOptions few = one_sink();
  few.sender.waiting_max = 3;
  Alerter alerter(few, database, hook.hooks());
  for (const char* job : {"a", "b", "c", "d", "e"}) CHECK_FALSE(alerter.send(crash(job)));
  CHECK(alerter.stats().waiting == 3);
  CHECK(alerter.stats().dropped == 2);
  CHECK(alerter.stats().sinks.at(0).waiting == 3);
  {
    const std::lock_guard lock(hook.mutex);
    hook.refuses = 0;
  }
  REQUIRE(hook.wait([&] { return hook.bodies.size() == 3; }));
  CHECK(hook.bodies[0].find("\"job\": \"c\"") != std::string::npos);
  CHECK(hook.bodies[2].find("\"job\": \"e\"") != std::string::npos);
}

TEST_CASE("alerter: without a webhook an alert is a line in the log") {
  test::TempFolder folder;
  store::Database database(folder.path() / "state.db", {});
  Hook hook;
  Alerter alerter({}, database, hook.hooks());
  Alert blind;
  blind.kind = Kind::blind;
  blind.summary = "nothing\nis heard";
  CHECK(alerter.send(blind).has_value());
  REQUIRE(hook.lines.size() == 1);
  CHECK(hook.lines[0] == "alert blind: nothing is heard");
  CHECK(database.due("webhook", TimeMs::max(), 10)->empty());
  CHECK(database.due("/blind", TimeMs::max(), 10)->empty());
}

}  // namespace
}  // namespace l4::alert
