#include "common/wire/clock_filter.h"

#include <doctest/doctest.h>

#include <random>

using namespace l4::wire;
using l4::Millis;
using l4::TimeMs;

namespace {

/// One round trip between clocks `offset` apart.
void trip(ClockFilter& filter, Millis& steady, Millis ours, Millis offset, Millis up, Millis there,
          Millis down) {
  const auto wall = [&] { return TimeMs{steady + ours}; };
  const Instant sent{steady, wall()};
  steady += up;
  const TimeMs received = wall() + offset;
  steady += there;
  const TimeMs replied = wall() + offset;
  steady += down;
  filter.measured(sent, received, replied, {steady, wall()});
  steady += Millis{3'000};
}

}  // namespace

TEST_CASE("clock filter: the shortest of eight round trips counts") {
  std::mt19937_64 random(3);
  ClockFilter filter;
  CHECK_FALSE(filter.estimate().has_value());
  Millis steady{5'000};
  for (int i = 0; i < 40; ++i) {
    const bool good = i % 8 == 3;
    const Millis up{good ? 2 : 10 + static_cast<std::int64_t>(random() % 200)};
    trip(filter, steady, Millis{1'700'000'000'000}, Millis{-7'250}, up, Millis{5}, Millis{2});
  }
  REQUIRE(filter.estimate().has_value());
  CHECK(filter.estimate()->offset == Millis{-7'250});
  CHECK(filter.estimate()->delay == Millis{4});
}

TEST_CASE("clock filter: a clock that is set makes what was measured void") {
  ClockFilter filter;
  Millis steady{5'000};
  const Millis ours{1'700'000'000'000};
  for (int i = 0; i < 8; ++i)
    trip(filter, steady, ours, Millis{100}, Millis{1}, Millis{0}, Millis{1});
  // An hour back: the next measurement, although worse, is the only one that counts.
  trip(filter, steady, ours - Millis{3'600'000}, Millis{3'600'100}, Millis{40}, Millis{0},
       Millis{40});
  CHECK(filter.estimate()->offset == Millis{3'600'100});
}

TEST_CASE("clock filter: nonsense is left out") {
  ClockFilter filter;
  const TimeMs zero{Millis{0}};
  filter.measured({Millis{0}, zero}, zero + Millis{10}, zero, {Millis{5}, zero + Millis{5}});
  filter.measured({Millis{0}, zero}, zero, zero + Millis{50}, {Millis{5}, zero + Millis{5}});
  filter.measured({Millis{0}, zero}, zero, zero, {Millis{5}, zero + Millis{9'000}});
  CHECK_FALSE(filter.estimate().has_value());
}
