// Acknowledged incidents and maintenance: what they hold back, and what is told afterwards.
#include <optional>

#include "tests/aggregator/alert/sink_world.h"

namespace l4::alert {
namespace {

using Why = QuietRefusal::Why;

constexpr Millis kHour{3'600'000};

store::Acknowledgement acknowledgement(const World& world, const std::string& incident,
                                       const std::string& who = "ann") {
  return {incident, "a", who, "", TimeMs{Millis{world.clock.load()}}};
}

store::Maintenance maintenance(const World& world, const std::string& kind,
                               const std::string& pattern) {
  const TimeMs now{Millis{world.clock.load()}};
  return {0, kind, pattern, "ann", "a new switch", now, now + kHour};
}

Alert on_node(const std::string& job, const std::string& node, Kind kind = Kind::opened) {
  Alert made = alert(job, kind);
  made.nodes = {node};
  return made;
}

TEST_CASE("acknowledged: changes are held back, the end is told") {
  World world;
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  send(alerter, alert("a"));
  send(alerter, alert("b"));
  REQUIRE(world.wait([&] { return world.count("http://chat") == 2; }));
  REQUIRE(alerter.quiet().acknowledge(acknowledgement(world, "a.0.1")));
  send(alerter, alert("a", Kind::changed));
  send(alerter, alert("b", Kind::changed));
  REQUIRE(world.wait([&] { return world.count("http://chat") == 3; }));
  alerter.poll();
  world.rest();
  CHECK(world.count("http://chat") == 3);
  CHECK(world.said("acknowledged by ann: alert changed: job a"));
  CHECK(alerter.stats().acknowledged == 1);
  CHECK(alerter.stats().quiet.acknowledged == 1);
  send(alerter, alert("a", Kind::resolved));
  REQUIRE(world.wait([&] { return world.count("http://chat") == 4; }));
  CHECK(holds(world.body("http://chat", 3), "resolved: job a"));
}

TEST_CASE("acknowledged: what changed is told once it is taken back, also after a restart") {
  World world;
  {
    store::Database database = world.database();
    Alerter alerter(options(), database, world.hooks());
    send(alerter, alert("a"));
    REQUIRE(world.wait([&] { return world.count("http://chat") == 1; }));
    REQUIRE(alerter.quiet().acknowledge(acknowledgement(world, "a.0.1")));
    send(alerter, alert("a", Kind::changed));
  }
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks(), {alert("a")});
  alerter.poll();
  world.rest();
  CHECK(world.count("http://chat") == 1);
  CHECK(alerter.quiet().acknowledgement("a.0.1")->who == "ann");
  const auto gone = alerter.quiet().take_back("a.0.1");
  REQUIRE(gone);
  CHECK(gone->who == "ann");
  alerter.poll();
  REQUIRE(world.wait([&] { return world.count("http://chat") == 2; }));
  CHECK(world.said("no longer held back: alert changed: job a"));
}

TEST_CASE("acknowledged: an incident that opens again is nobody's") {
  World world;
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  send(alerter, alert("a"));
  REQUIRE(alerter.quiet().acknowledge(acknowledgement(world, "a.0.1")));
  send(alerter, alert("a", Kind::resolved));
  CHECK(alerter.quiet().acknowledgement("a.0.1"));  // who had it is still known
  send(alerter, alert("a"));
  REQUIRE(world.wait([&] { return world.count("http://chat") == 3; }));
  CHECK_FALSE(alerter.quiet().acknowledgement("a.0.1"));
  CHECK(database.acknowledgements()->empty());
}

TEST_CASE("acknowledged: the second person is refused, the first may tell it again") {
  World world;
  store::Database database = world.database();
  QuietBook book(database, [](const std::string&) {});
  REQUIRE(book.acknowledge(acknowledgement(world, "a.0.1")));
  const auto second = book.acknowledge(acknowledgement(world, "a.0.1", "bob"));
  REQUIRE_FALSE(second);
  CHECK(second.error().why == Why::conflict);
  CHECK(second.error().message.starts_with("ann has acknowledged incident a.0.1 at 1970-01-12T"));
  store::Acknowledgement again = acknowledgement(world, "a.0.1");
  again.note = "the switch";
  REQUIRE(book.acknowledge(again));
  CHECK(database.acknowledgements()->at(0) == again);
  CHECK(book.take_back("b.0.1").error().why == Why::unknown);
  CHECK(book.acknowledgement("a.0.1") == std::optional(again));
}

TEST_CASE("maintenance: a job or a node in it raises no alert, others do") {
  World world;
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  const auto of_job = alerter.quiet().begin(maintenance(world, "job", "test-*"));
  const auto of_node = alerter.quiet().begin(maintenance(world, "node", "rack-7-*"));
  REQUIRE((of_job && of_node));
  send(alerter, on_node("test-1", "n1"));
  send(alerter, on_node("prod-1", "rack-7-03"));
  send(alerter, on_node("prod-2", "rack-8-03"));
  REQUIRE(world.wait([&] { return world.count("http://chat") == 1; }));
  world.rest();
  CHECK(world.count("http://chat") == 1);
  CHECK(holds(world.body("http://chat", 0), "job prod-2"));
  CHECK(world.said("in maintenance m1 until 1970-01-12T14:46:40.000Z: alert opened: job test-1"));
  CHECK(alerter.stats().maintenance == 2);
  CHECK(alerter.stats().quiet.maintenance == 2);
  CHECK(alerter.quiet().held("test-1.0.1")->id == of_job->id);
  CHECK(alerter.quiet().held("prod-1.0.1")->id == of_node->id);
  CHECK_FALSE(alerter.quiet().held("prod-2.0.1"));
  CHECK(alerter.quiet().held_incidents().at(of_job->id) == 1);
}

TEST_CASE("maintenance: what is still open at its end is told, also after a restart") {
  World world;
  {
    store::Database database = world.database();
    Alerter alerter(options(), database, world.hooks());
    REQUIRE(alerter.quiet().begin(maintenance(world, "job", "a")));
    REQUIRE(alerter.quiet().begin(maintenance(world, "job", "b")));
    send(alerter, alert("a"));
    send(alerter, alert("b"));
  }
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks(), {alert("a"), alert("b")});
  alerter.poll();
  world.rest();
  CHECK(world.count("http://chat") == 0);
  CHECK(alerter.quiet().held("a.0.1")->pattern == "a");
  REQUIRE(alerter.quiet().end(1, "bob", TimeMs{Millis{world.clock.load()}}));
  alerter.poll();
  REQUIRE(world.wait([&] { return world.count("http://chat") == 1; }));
  CHECK(holds(world.body("http://chat", 0), "job a"));
  world.pass(3'600);
  alerter.poll();
  REQUIRE(world.wait([&] { return world.count("http://chat") == 2; }));
}

TEST_CASE("maintenance: it ends once, by whom is kept, and the list has both kinds") {
  World world;
  store::Database database = world.database();
  QuietBook book(database, [](const std::string&) {});
  const TimeMs now{Millis{world.clock.load()}};
  REQUIRE(book.begin(maintenance(world, "job", "a*")));
  REQUIRE(book.begin(maintenance(world, "node", "n?")));
  CHECK(book.of_job("abc", now)->id == 1);
  CHECK_FALSE(book.of_job("n1", now));
  CHECK(book.of_node("n1", now)->id == 2);
  CHECK_FALSE(book.of_node("n12", now));
  CHECK_FALSE(book.of_job("abc", now + kHour));
  const auto ended = book.end(1, "bob", now + Millis{5});
  REQUIRE(ended);
  CHECK(ended->ended_by == "bob");
  CHECK(book.end(1, "bob", now + Millis{6}).error().why == Why::conflict);
  CHECK(book.end(7, "bob", now).error().why == Why::unknown);
  CHECK(book.maintenance(now + Millis{6}, false).size() == 1);
  const auto all = book.maintenance(now + Millis{6}, true);
  REQUIRE(all.size() == 2);
  CHECK(all[0].id == 2);
  const QuietBook restored(database, [](const std::string&) {});
  CHECK(restored.maintenance(now, true) == all);
}

TEST_CASE("maintenance: too many at a time are refused") {
  World world;
  store::Database database = world.database();
  QuietBook book(database, [](const std::string&) {});
  for (std::size_t i = 0; i < QuietBook::kActiveMax; ++i)
    REQUIRE(book.begin(maintenance(world, "job", "a")));
  CHECK(book.begin(maintenance(world, "job", "a")).error().why == Why::conflict);
  world.pass(3'600);
  CHECK(book.begin(maintenance(world, "job", "a")));
}

TEST_CASE("maintenance: its name and back") {
  CHECK(maintenance_name(12) == "m12");
  CHECK(maintenance_id("m12") == std::optional<std::int64_t>(12));
  for (const char* other : {"", "m", "12", "m0", "m-1", "m012", "m1x", "m99999999999999999999"})
    CHECK_FALSE(maintenance_id(other));
}

}  // namespace
}  // namespace l4::alert
