// Times as text: what is read, what is refused, and that reading undoes printing.
#include "common/base/time.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace l4 {
namespace {

TEST_CASE("a time prints as RFC 3339 with milliseconds") {
  CHECK(to_rfc3339(TimeMs{}) == "1970-01-01T00:00:00.000Z");
  CHECK(to_rfc3339(from_civil(2026, 11, 20, 15, 54, 42, 120)) == "2026-11-20T15:54:42.120Z");
  CHECK(to_rfc3339(from_civil(2024, 2, 29, 23, 59, 59, 999)) == "2024-02-29T23:59:59.999Z");
  CHECK(to_rfc3339(TimeMs{Millis{-1}}) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("spellings of one time") {
  const TimeMs time = from_civil(2026, 11, 20, 15, 54, 42, 0);
  for (const char* text :
       {"2026-11-20T15:54:42Z", "2026-11-20 15:54:42", "2026-11-20t15:54:42z",
        "2026-11-20_15:54:42", "2026-11-20T15:54:42.000", "2026-11-20T15:54:42,0Z",
        "2026-11-20T17:54:42+02:00", "2026-11-20T17:54:42+0200", "2026-11-20T17:54:42+02",
        "2026-11-20T10:24:42-05:30", "1795190082", "1795190082.0"}) {
    CAPTURE(text);
    const auto read = parse_time(text);
    REQUIRE(read.has_value());
    CHECK(to_rfc3339(*read) == to_rfc3339(time));
  }
  CHECK(parse_time("2026-11-20") == from_civil(2026, 11, 20, 0, 0, 0, 0));
  CHECK(parse_time("2026-11-20T15:54") == from_civil(2026, 11, 20, 15, 54, 0, 0));
}

TEST_CASE("fractions are cut to milliseconds") {
  const TimeMs time = from_civil(2026, 1, 2, 3, 4, 5, 0);
  CHECK(parse_time("2026-01-02T03:04:05.1") == time + Millis{100});
  CHECK(parse_time("2026-01-02T03:04:05.12Z") == time + Millis{120});
  CHECK(parse_time("2026-01-02T03:04:05.123456789Z") == time + Millis{123});
  CHECK(parse_time("1767323045.5") == time + Millis{500});
}

TEST_CASE("what is no time is refused") {
  for (const char* text : {"",
                           " ",
                           "noon",
                           "2026-13-01",
                           "2026-00-10",
                           "2026-11-32",
                           "2026-11-20T25:00:00Z",
                           "2026-11-20T10:60:00Z",
                           "2026-11-20T10:00:61Z",
                           "2026-11-20T10",
                           "2026-11-20T10:00:00X",
                           "2026-11-20T10:00:00+2",
                           "2026-11-20T10:00:00+19:00",
                           "2026-1-2",
                           "12:30:00",
                           "-5",
                           "nan",
                           "inf",
                           "99999999999999",
                           "1795190082x"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_time(text).has_value());
  }
}

TEST_CASE("reading undoes printing") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2000; ++i) {
    const TimeMs time{Millis{static_cast<std::int64_t>(random() % 4'000'000'000'000)}};
    CHECK(parse_time(to_rfc3339(time)) == time);
  }
}

TEST_CASE("spans for people") {
  struct Row {
    std::int64_t ms;
    const char* text;
  };
  for (const Row& row :
       {Row{0, "0 ms"}, Row{999, "999 ms"}, Row{3210, "3.2 s"}, Row{250'000, "4 min 10 s"},
        Row{7'500'000, "2 h 5 min"}, Row{200'000'000, "2 d 7 h"}, Row{-3000, "-3.0 s"}})
    CHECK(to_human(Millis{row.ms}) == row.text);
}

}  // namespace
}  // namespace l4
