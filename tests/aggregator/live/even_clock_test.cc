// The time of day by which jobs are watched: it neither jumps nor goes back, and it ends up right.
#include "aggregator/live/even_clock.h"

#include <doctest/doctest.h>

namespace l4::live {
namespace {

const TimeMs kBegin = from_civil(2024, 3, 5, 10, 0, 0, 0);

/// A host whose clock can be set.
struct Host {
  EvenClock clock;
  Millis passed{0}, set{0};

  TimeMs now() { return clock.at({Millis{5'000} + passed, kBegin + passed + set}).wall; }
  /// The error of the clock after that time; reads it each tenth of a second and checks that it
  /// never jumps.
  Millis off_after(Millis time) {
    TimeMs before = now();
    for (const Millis end = passed + time; passed < end;) {
      passed += Millis{100};
      const TimeMs next = now();
      CHECK(next - before >= Millis{89});
      CHECK(next - before <= Millis{111});
      before = next;
    }
    return before - (kBegin + passed + set);
  }
};

TEST_CASE("even clock: goes with the host's clock") {
  Host host;
  CHECK(host.now() == kBegin);
  CHECK(host.off_after(Millis{60'000}) == Millis{0});
  CHECK_FALSE(host.clock.poll_jump());
}

TEST_CASE("even clock: an hour back or ahead is taken in slowly") {
  constexpr Millis kHour{3'600'000};
  for (const Millis jump : {-kHour, kHour}) {
    Host host;
    CHECK(host.off_after(Millis{10'000}) == Millis{0});
    host.set = jump;
    CHECK(host.off_after(Millis{600'000}) == -jump * 59 / 60);
    CHECK(host.clock.poll_jump() == jump);
    CHECK_FALSE(host.clock.poll_jump());
    CHECK(host.off_after(10 * kHour) == Millis{0});
  }
}

TEST_CASE("even clock: there and back again, and what is too small to be a jump") {
  Host host;
  host.off_after(Millis{10'000});
  host.set = Millis{-3'600'000};
  host.off_after(Millis{10'000});
  host.set = Millis{0};
  // The clock has corrected a second of the hour.
  CHECK(host.off_after(Millis{0}) == Millis{-1'000});
  CHECK(host.off_after(Millis{11'000}) == Millis{0});
  CHECK(host.clock.poll_jump() == Millis{0});
  host.set = Millis{20};
  CHECK(host.off_after(Millis{1'000}) == Millis{0});
  CHECK_FALSE(host.clock.poll_jump());
}

TEST_CASE("even clock: threads that read the host's clocks one after the other ask in any order") {
  EvenClock clock;
  CHECK(clock.at({Millis{100}, kBegin}).wall == kBegin);
  CHECK(clock.at({Millis{90}, kBegin - Millis{10}}).wall == kBegin);
  CHECK(clock.at({Millis{110}, kBegin + Millis{10}}).wall == kBegin + Millis{10});
}

}  // namespace
}  // namespace l4::live
