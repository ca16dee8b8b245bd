#include "aggregator/serve/phrases.h"

#include <doctest/doctest.h>

using namespace l4;
using namespace l4::serve;

TEST_CASE("phrases: numbers") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(18233102) == "18,233,102");
  CHECK(counted(1, "node") == "1 node");
  CHECK(counted(0, "node") == "0 nodes");
  CHECK(sized(999) == "999 B");
  CHECK(sized(1000) == "1.0 KB");
  CHECK(sized(999'700) == "1.0 MB");
  CHECK(sized(71'000'000'000) == "71 GB");
}

TEST_CASE("phrases: nobody is ever entirely sure") {
  CHECK(percent(0) == "<1 %");
  CHECK(percent(1) == ">99 %");
  CHECK(percent(0.345) == "34 %");
  CHECK(certainty(0.97) == "almost certain");
  CHECK(certainty(0.1) == "unlikely");
}

TEST_CASE("phrases: ranks as ranges") {
  CHECK(ranks_text({}, 3) == "");
  CHECK(ranks_text({Rank{7}}, 3) == "rank 7");
  CHECK(ranks_text({Rank{3}, Rank{1}, Rank{2}, Rank{2}}, 3) == "ranks 1-3");
  CHECK(ranks_text({Rank{1}, Rank{2}}, 3) == "ranks 1, 2");
  CHECK(ranks_text({Rank{1}, Rank{3}, Rank{5}, Rank{6}}, 2) == "ranks 1, 3 and 2 more");
}

TEST_CASE("phrases: times and spans") {
  const TimeMs noon = from_civil(2026, 11, 20, 12, 0, 0, 250);
  CHECK(time_text(noon, noon + std::chrono::hours{2}) == "12:00:00.250");
  CHECK(time_text(noon, noon + std::chrono::hours{12}) == "2026-11-20T12:00:00.250Z");
  CHECK(time_text(noon, {}) == "2026-11-20T12:00:00.250Z");
  CHECK(time_text(TimeMs::max(), {}) == "?");
  CHECK(between(noon, noon + Millis{5}) == Millis{5});
  CHECK_FALSE(between(noon + Millis{5}, noon).has_value());
  CHECK_FALSE(between(TimeMs::min(), TimeMs::max()).has_value());
  CHECK(brief(Millis{52'400}) == "52 s");
  CHECK(brief(Millis{405'000}) == "7 min");
}
