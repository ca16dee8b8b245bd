// What became of alerts at each sink: waiting with the reason, taken, lost; bounded.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/aggregator/alert/sink_world.h"

namespace l4::alert {
namespace {

using Status = Delivery::Status;

std::vector<Delivery> deliveries_of(const Alerter& alerter, const std::string& sink) {
  std::vector<Delivery> found = alerter.deliveries();
  std::erase_if(found, [&](const Delivery& one) { return one.sink != sink; });
  return found;
}

TEST_CASE("deliveries: an alert waits with the reason until its sink has taken it") {
  World world;
  world.set("http://chat", 503);
  store::Database database = world.database();
  Alerter alerter(options(), database, world.hooks());
  send(alerter, alert("a"));
  REQUIRE(world.wait([&] {  // the try is told before the database has the time of the next one
    const auto chat = deliveries_of(alerter, "chat");
    return chat.size() == 1 && chat[0].tried && chat[0].failures == 1 &&
           chat[0].next > chat[0].tried;
  }));
  const Delivery waits = deliveries_of(alerter, "chat").front();
  CHECK(waits.status == Status::waiting);
  CHECK(waits.event == "opened");
  CHECK(waits.incident == "a.0.1");
  CHECK(waits.job == "a");
  CHECK(waits.line == "crashed: it is a");
  CHECK(waits.trouble == "answered 503");
  REQUIRE(world.wait([&] { return world.count("http://pager") == 1; }));
  REQUIRE(
      world.wait([&] { return deliveries_of(alerter, "pager").front().status == Status::taken; }));
  world.heal();
  world.pass(5);
  REQUIRE(world.wait([&] { return world.count("http://chat") == 1; }));
  REQUIRE(
      world.wait([&] { return deliveries_of(alerter, "chat").front().status == Status::taken; }));
  const auto chat = deliveries_of(alerter, "chat");
  REQUIRE(chat.size() == 1);
  CHECK(chat[0].id == waits.id);
  CHECK(chat[0].taken == 1);
  CHECK(chat[0].failures == 0);
  CHECK(chat[0].trouble.empty());
}

TEST_CASE("deliveries: what waits outlives a restart, and an alert of no incident names none") {
  World world;
  world.set("http://chat", 0);
  store::Database database = world.database();
  {
    Alerter alerter(options(), database, world.hooks());
    Alert blind = alert("", Kind::degraded);
    blind.incident.clear();
    blind.state = State::unknown;
    blind.summary = "the disk is full";
    send(alerter, blind);
    REQUIRE(world.wait([&] { return alerter.stats().sinks.at(1).failures == 1; }));
  }
  Alerter alerter(options(), database, world.hooks());
  std::vector<Delivery> chat;
  REQUIRE(world.wait([&] {  // the end may have come before the first failure was stored
    chat = deliveries_of(alerter, "chat");
    return !chat.empty() && chat[0].failures >= 1;
  }));
  CHECK(chat[0].status == Status::waiting);
  CHECK(chat[0].event == "degraded");
  CHECK(chat[0].incident.empty());
  CHECK(chat[0].line == "the disk is full");
}

TEST_CASE("deliveries: a repeated alert is one row, and the newest 64 tries are kept") {
  DeliveryLog log;
  store::Alert row;
  row.sink = "am";
  row.event = "opened";
  row.lasts = true;
  for (int i = 0; i < 100; ++i) {
    row.id = 7;
    log.note(row, false, "", TimeMs{Millis{i}});
  }
  auto all = log.joined({}, {});
  REQUIRE(all.size() == 1);
  CHECK(all[0].taken == 100);
  CHECK(all[0].tried == TimeMs{Millis{99}});
  for (int i = 0; i < 1'000; ++i) {
    row.id = 100 + i;
    log.note(row, false, "", TimeMs{Millis{1'000 + i}});
  }
  all = log.joined({}, {});
  CHECK(all.size() == DeliveryLog::kMost);
  CHECK(all.front().id == "am.1099");  // the newest first
}

TEST_CASE(
    "deliveries: a row that failed and gave way is not listed; one in memory has its own id") {
  DeliveryLog log;
  store::Alert row;
  row.sink = "chat";
  row.id = 1;
  log.note(row, false, "answered 500", TimeMs{Millis{1}});
  CHECK(log.joined({}, {}).empty());
  log.note(row, true, "", TimeMs{Millis{2}});
  const auto all = log.joined({row}, {});
  REQUIRE(all.size() == 2);
  CHECK(all[0].id == "chat.1");
  CHECK(all[0].trouble == "answered 500");
  CHECK(all[1].id == "chat.m1");
  CHECK(all[1].status == Status::taken);
  log.note_lost(row, TimeMs{Millis{3}});
  CHECK(log.joined({}, {}).front().status == Status::lost);
}

}  // namespace
}  // namespace l4::alert
