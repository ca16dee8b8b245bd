#include "common/base/earliest.h"

#include <doctest/doctest.h>

#include <optional>

#include "common/base/slim_optional.h"

TEST_CASE("earliest, latest: of values and optionals, empty or not") {
  std::optional<int> low, high;
  for (const std::optional<int> value :
       {std::optional<int>(), std::optional<int>(3), std::optional<int>(5)}) {
    l4::keep_earliest(low, value);
    l4::keep_latest(high, value);
  }
  CHECK(low == 3);
  CHECK(high == 5);
  l4::keep_earliest(low, 1);
  l4::keep_latest(high, 4);
  CHECK(low == 1);
  CHECK(high == 5);
  l4::SlimTime time;
  l4::keep_latest(time, std::optional(l4::TimeMs{l4::Millis{7}}));
  l4::keep_latest(time, l4::SlimTime());
  CHECK(time == l4::SlimTime(l4::TimeMs{l4::Millis{7}}));
}
