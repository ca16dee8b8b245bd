#include "aggregator/alert/storm.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace l4::alert {
namespace {

TimeMs at(std::int64_t seconds) {
  return TimeMs{Millis{seconds * 1000}};
}

Alert alert(int job, Kind kind = Kind::opened) {
  Alert made;
  made.kind = kind;
  made.job = "job-" + std::to_string(job);
  made.incident = made.job + ".0.1";
  made.state = State::crashed;
  return made;
}

TEST_CASE("storm: the first incidents of a window are alone, the others one growing summary") {
  Storm storm({Millis{30'000}, 2});
  CHECK(storm.decide(alert(1), at(100)).alone);
  CHECK(storm.decide(alert(2), at(101)).alone);
  const auto third = storm.decide(alert(3), at(102));
  CHECK_FALSE(third.alone);
  REQUIRE(third.instead);
  CHECK(third.due == at(130));
  CHECK(third.instead->summary == "1 more incident within 30.0 s: job-3 (crashed)");
  CHECK(severity(*third.instead) == Severity::critical);
  const auto fourth = storm.decide(alert(4), at(103));
  CHECK(fourth.key == third.key);
  CHECK(fourth.instead->summary.starts_with("2 more"));
  CHECK(fourth.instead->incidents.size() == 2);
  CHECK_FALSE(storm.decide(alert(3, Kind::changed), at(104)).alone);
  CHECK(storm.decide(alert(1, Kind::changed), at(104)).alone);
  CHECK(storm.decide(alert(5), at(130)).alone);  // another window
  CHECK(storm.decide(alert(6), at(131)).alone);
  CHECK(storm.decide(alert(7), at(132)).key != third.key);
}

TEST_CASE("storm: its end is sent once, and not before the summary") {
  Storm storm({Millis{30'000}, 1});
  CHECK(storm.decide(alert(1), at(100)).alone);
  const std::string key = storm.decide(alert(2), at(100)).key;
  storm.decide(alert(3), at(101));
  CHECK(storm.decide(alert(1, Kind::resolved), at(102)).alone);
  const auto one = storm.decide(alert(2, Kind::resolved), at(103));
  CHECK_FALSE(one.alone);
  CHECK_FALSE(one.instead);
  CHECK(storm.saved(key) == "job-3.0.1\n");
  const auto last = storm.decide(alert(3, Kind::resolved), at(104));
  REQUIRE(last.instead);
  CHECK(last.instead->kind == Kind::storm_over);
  CHECK(last.instead->incident == key);
  CHECK(last.due == at(130));
  CHECK(storm.saved(key).empty());
}

TEST_CASE("storm: a storm from before a restart ends as well") {
  Storm storm({Millis{30'000}, 1});
  storm.restore("storm.7", "job-1.0.1\njob-2.0.1\n");
  CHECK_FALSE(storm.decide(alert(1, Kind::resolved), at(1)).instead);
  const auto last = storm.decide(alert(2, Kind::resolved), at(2));
  REQUIRE(last.instead);
  CHECK(last.instead->incident == "storm.7");
  CHECK(last.due == at(2));
}

TEST_CASE("storm: 0 groups nothing, and only incidents are grouped") {
  Storm off({Millis{30'000}, 0});
  for (int i = 0; i < 100; ++i) CHECK(off.decide(alert(i), at(1)).alone);
  Storm storm({Millis{30'000}, 1});
  Alert blind;
  blind.kind = Kind::blind;
  for (int i = 0; i < 5; ++i) CHECK(storm.decide(blind, at(1)).alone);
}

TEST_CASE("storm: bounded in storms and in incidents") {
  Storm storm({Millis{1'000}, 1});
  for (int i = 0; i < 5'000; ++i) storm.decide(alert(i), at(0));
  const std::string key = storm.decide(alert(5'000), at(0)).key;
  const std::string saved = storm.saved(key);
  CHECK(std::ranges::count(saved, '\n') == 1'000);
  for (int window = 1; window <= 20; ++window)
    for (int i = 0; i < 2; ++i) storm.decide(alert(10'000 + window * 10 + i), at(window * 10));
  CHECK(storm.saved(key).empty());
}

}  // namespace
}  // namespace l4::alert
