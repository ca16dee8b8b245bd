#include "agent/nic/second_meter.h"

#include <doctest/doctest.h>

#include <vector>

namespace l4::nic {
namespace {

using wire::NicSecond;
using wire::Tenths;

constexpr std::int64_t kBegin = 1'800'000'000'000;

/// Feeds readings by offsets of milliseconds and gives what was finished.
struct Meter {
  explicit Meter(const SecondMeter::Options& options = {}) : meter(options) {}
  void at(std::int64_t ms, std::uint64_t sent, std::uint64_t received = 0,
          std::int64_t wall_ahead = 0) {
    meter.add({TimeMs{Millis{kBegin + ms + wall_ahead}}, Millis{ms}, sent, received},
              [&](const NicSecond& one) { seconds.push_back(one); });
  }
  SecondMeter meter;
  std::vector<NicSecond> seconds;
};

TEST_CASE("second meter: bytes of a second, busy tenths, first and last activity") {
  Meter meter;
  for (int tenth = 0; tenth <= 10; ++tenth) {
    const int busy = tenth < 3 ? 0 : tenth < 6 ? tenth - 2 : 3;  // in tenths 2, 3 and 4
    meter.at(tenth * 100, 1'000'000U * static_cast<unsigned>(busy), 5'000U);
  }
  REQUIRE(meter.seconds.size() == 1);
  const NicSecond& second = meter.seconds.front();
  CHECK(second.begin == TimeMs{Millis{kBegin}});
  CHECK(second.sent == 3'000'000);
  CHECK(second.received == 0);
  for (std::size_t i = 0; i < Tenths::kCount; ++i)
    CHECK(second.tenths.at(i) == (i >= 2 && i <= 4 ? Tenths::kMost : Tenths::kIdle));
  CHECK(second.first == 200);
  CHECK(second.last == 500);
  CHECK(second.last_sent == 500);
}

TEST_CASE("second meter: what is only received ends no sending; a quiet second has no times") {
  Meter meter;
  meter.at(0, 0, 0);
  meter.at(100, 100'000, 100'000);
  meter.at(400, 100'000, 400'000);
  meter.at(2000, 100'000, 400'000);
  REQUIRE(meter.seconds.size() == 2);
  CHECK(meter.seconds[0].last_sent == 100);
  CHECK(meter.seconds[0].last == 400);
  CHECK(meter.seconds[1].last == NicSecond::kNone);
  CHECK(meter.seconds[1].tenths.bits() == 0);
}

TEST_CASE("second meter: irregular readings keep all bytes and their real intervals") {
  Meter meter;
  std::uint64_t total = 0;
  meter.at(0, 0);
  for (const std::int64_t ms : {573, 1204, 1299, 2410, 3000}) {
    total += 1'000U * static_cast<std::uint64_t>(ms);
    meter.at(ms, total);
  }
  REQUIRE(meter.seconds.size() == 3);
  CHECK(meter.seconds[0].sent + meter.seconds[1].sent + meter.seconds[2].sent == total);
  CHECK(meter.seconds[0].sent == doctest::Approx(573'000 + 1'204'000 * 427 / 631.0).epsilon(.01));
}

TEST_CASE("second meter: chatter below a part of the busiest tenth is no activity") {
  Meter meter;
  meter.at(0, 0);
  meter.at(100, 100'000'000);
  meter.at(1000, 100'000'000);
  meter.at(1100, 100'100'000);
  meter.at(2000, 100'100'000);
  REQUIRE(meter.seconds.size() == 2);
  CHECK(meter.seconds[0].last == 100);
  CHECK(meter.seconds[1].last == NicSecond::kNone);
  CHECK(meter.seconds[1].sent == 100'000);
}

TEST_CASE("second meter: nothing is spread over more than two seconds") {
  Meter meter;
  meter.at(0, 0);
  meter.at(500, 1'000'000);
  meter.at(7'200, 90'000'000);
  meter.at(7'900, 90'700'000);
  meter.at(8'000, 90'800'000);
  REQUIRE(meter.seconds.size() == 2);
  CHECK(meter.seconds[0].sent == 1'000'000);
  CHECK_FALSE(meter.seconds[0].tenths.is_known(5));
  CHECK(meter.seconds[1].begin == TimeMs{Millis{kBegin + 7'000}});
  CHECK(meter.seconds[1].sent == 800'000);
  CHECK_FALSE(meter.seconds[1].tenths.is_known(0));
  CHECK(meter.seconds[1].tenths.is_busy(5));
}

TEST_CASE("second meter: a counter wraps at 32 bits, or is set back") {
  Meter wraps({4, 200'000, 4096});
  wraps.at(0, 4'294'967'000);
  wraps.at(100, 704);
  wraps.at(1000, 704);
  REQUIRE(wraps.seconds.size() == 1);
  CHECK(wraps.seconds[0].sent == 4'000);
  CHECK(wraps.meter.wraps() == 1);

  Meter reset({1, 1'000, 4096});
  reset.at(0, 5'000'000'000);
  reset.at(100, 700'000);
  reset.at(200, 1'700'000);
  reset.at(1000, 1'700'000);
  REQUIRE(reset.seconds.size() == 1);
  CHECK(reset.seconds[0].sent == 1'000'000);
  CHECK_FALSE(reset.seconds[0].tenths.is_known(0));
  CHECK(reset.meter.resets() == 1);
}

TEST_CASE("second meter: a wall clock that is set loses one interval, not the count") {
  Meter meter;
  meter.at(0, 0);
  meter.at(500, 1'000'000);
  meter.at(600, 2'000'000, 0, -3'600'000);
  meter.at(1400, 3'000'000, 0, -3'600'000);
  meter.at(2000, 4'000'000, 0, -3'600'000);
  REQUIRE(meter.seconds.size() == 3);
  CHECK(meter.seconds[0].begin == TimeMs{Millis{kBegin}});
  CHECK(meter.seconds[0].sent == 1'000'000);
  CHECK(meter.seconds[1].begin == TimeMs{Millis{kBegin - 3'600'000}});
  CHECK(meter.seconds[1].sent + meter.seconds[2].sent == 2'000'000);
}

}  // namespace
}  // namespace l4::nic
