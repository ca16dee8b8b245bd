#include "aggregator/scoring/node_check.h"

#include <doctest/doctest.h>

#include "tests/aggregator/job/made_job.h"
#include "tests/aggregator/live/seconds.h"

namespace l4::scoring {
namespace {

using job::test::MadeJob;
using test::at;

/// 16 nodes train; the lines of `odd` change from iteration `from` on.
MadeJob trained(int odd, std::int64_t from, std::int64_t until) {
  MadeJob made(16);
  for (std::int64_t k = 1; k <= until; ++k)
    for (int rank = 0; rank < made.ranks(); ++rank) {
      const std::int64_t ms = k * 10'000 - 4000;
      const bool changed = rank == odd && k >= from;
      for (const char* line : {"lease renewed", "cache trimmed", "heap swept"})
        for (int i = 0; i < (changed ? 20 : 2); ++i) made.say(rank, {line, Level::info}, ms);
      made.iterate(rank, k, k * 10'000);
    }
  return made;
}

TEST_CASE("node check: a node that newly differs is told, once, and not a healthy job") {
  NodeCheck check;
  MadeJob healthy = trained(-1, 0, 120);
  CHECK(check.run(healthy.state(), {}).empty());
  MadeJob made = trained(11, 100, 120);
  const auto alarms = check.run(made.state(), {});
  REQUIRE(alarms.size() == 1);
  CHECK(alarms[0].node == "node-11");
  CHECK(alarms[0].detail.find("expected") != std::string::npos);
  CHECK(check.run(made.state(), {}).empty());
  CHECK(check.run(healthy.state(), {}).empty());
  CHECK(check.run(made.state(), {}).size() == 1);  // it differs anew
}

TEST_CASE("node check: at most once a window, and rarely where it is dear") {
  NodeCheck check;
  CHECK(check.is_due(at(0)));
  check.rest(at(0), Millis{20});
  CHECK_FALSE(check.is_due(at(9)));
  CHECK(check.is_due(at(10)));
  check.rest(at(10), Millis{1000});
  CHECK_FALSE(check.is_due(at(59)));
  CHECK(check.is_due(at(60)));
}

}  // namespace
}  // namespace l4::scoring
