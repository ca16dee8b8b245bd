#include "aggregator/live/health_watch.h"

#include <doctest/doctest.h>

namespace l4::live {
namespace {

struct Watched {
  /// Steps once a second; returns the alerts of that time.
  std::vector<alert::Alert> run(int seconds) {
    std::vector<alert::Alert> told;
    for (int i = 0; i < seconds; ++i) {
      now += Millis{1'000};
      if (auto alert = watch.step(health, {now, TimeMs{now}})) told.push_back(std::move(*alert));
    }
    return told;
  }
  HealthWatch watch;
  Health health;
  Millis now{1'000'000};
};

TEST_CASE("health watch: trouble is told once it lasts, and its end once all is well") {
  Watched watched;
  CHECK(watched.run(100).empty());
  watched.health.add(watched.health.journal, "the journal cannot be written");
  CHECK(watched.run(10).empty());
  const auto told = watched.run(300);
  REQUIRE(told.size() == 1);
  CHECK(told[0].kind == alert::Kind::degraded);
  CHECK(told[0].summary == "the aggregator is not well: the journal cannot be written");
  CHECK(told[0].at == TimeMs{Millis{1'111'000}});
  watched.health = {};
  CHECK(watched.run(30).empty());
  const auto over = watched.run(300);
  REQUIRE(over.size() == 1);
  CHECK(over[0].kind == alert::Kind::well_again);
}

TEST_CASE("health watch: what comes and goes is one alert, what is short is none") {
  Watched watched;
  const auto flap = [&](int bad_s, int well_s) {
    std::size_t told = 0;
    for (int i = 0; i < 20; ++i) {
      watched.health.add(watched.health.database, "the database cannot be used");
      told += watched.run(bad_s).size();
      watched.health = {};
      told += watched.run(well_s).size();
    }
    return told;
  };
  CHECK(flap(9, 5) == 0);
  CHECK(flap(15, 20) == 1);
  CHECK(watched.run(30).size() == 1);
}

TEST_CASE("health watch: what joins is told, too; that it is blind is not for here") {
  Watched watched;
  watched.health.add(watched.health.blind, "blind");
  CHECK(watched.run(100).empty());
  watched.health.add(watched.health.journal, "journal");
  CHECK(watched.run(20).size() == 1);
  watched.health.add(watched.health.stalled, "thread");
  const auto told = watched.run(20);
  REQUIRE(told.size() == 1);
  CHECK(told[0].summary == "the aggregator is not well: blind; journal; thread");
  watched.health = {};
  watched.health.add(watched.health.blind, "blind");
  CHECK(watched.run(40).size() == 1);
}

}  // namespace
}  // namespace l4::live
