// Times of bars by the clocks that they show.
#include "agent/segment/bar_clock.h"

#include <doctest/doctest.h>

#include "common/base/time.h"

namespace l4::segment {
namespace {

constexpr TimeMs at(std::int64_t seconds) {
  return TimeMs{Millis{1'700'000'000'000 + 1000 * seconds}};
}
constexpr Millis s(std::int64_t seconds) {
  return Millis{1000 * seconds};
}

TEST_CASE("bar clock: a bar goes on from the stamp before it") {
  BarClock clock;
  CHECK_FALSE(clock.drawn(100, s(3)));  // nothing is known of the time
  clock.stamp(at(0));
  CHECK(clock.drawn(100, s(0)) == at(0));
  CHECK(clock.drawn(100, s(40)) == at(40));
  CHECK(clock.drawn(100, s(3600)) == at(3600));
}

TEST_CASE("bar clock: it is drawn between the stamps around it") {
  BarClock clock;
  clock.stamp(at(0));
  CHECK(clock.drawn(100, s(10)) == at(0));
  clock.stamp(at(50));
  CHECK(clock.drawn(100, s(12)) == at(50));  // it began later than was known
  CHECK(clock.drawn(100, s(20)) == at(58));
  clock.stamp(at(55));  // or earlier
  CHECK(clock.drawn(100, s(30)) == at(65));
}

TEST_CASE("bar clock: bars side by side, and loops that begin again") {
  BarClock clock;
  clock.stamp(at(0));
  CHECK(clock.drawn(1000, s(0)) == at(0));
  CHECK(clock.drawn(1000, s(60)) == at(60));
  CHECK(clock.drawn(20, s(0)) == at(60));  // an evaluation
  CHECK(clock.drawn(20, s(15)) == at(75));
  CHECK(clock.drawn(1000, s(80)) == at(80));
  CHECK(clock.drawn(20, s(1)) == at(80));  // the next one
  CHECK(clock.drawn(20, s(11)) == at(90));
  for (std::int64_t total = 1; total < 10; ++total) CHECK(clock.drawn(total, s(5)) == at(90));
}

}  // namespace
}  // namespace l4::segment
