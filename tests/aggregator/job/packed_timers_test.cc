#include "aggregator/job/packed_timers.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace l4::job {
namespace {

std::vector<wire::TimerTotal> unpacked(const PackedTimers& timers) {
  std::vector<wire::TimerTotal> all;
  for (const wire::TimerTotal& timer : timers) all.push_back(timer);
  return all;
}

}  // namespace

TEST_CASE("packed timers give back what was packed, bit by bit") {
  const std::vector<wire::TimerTotal> given{
      {0, 1, 28290.02, 28290.02},
      {7, 1, 0, 0},
      {65'535, 3, 1.0 / 3, 0.25},
      {2, 1, 1e300, 1e300},
      {3, 1, -2.5, -2.5},
      {4, 2, 5e9, std::numeric_limits<double>::denorm_min()},
      {5, 1, 4294967.295, 4294967.295},
  };
  PackedTimers timers;
  timers.assign(given);
  CHECK(unpacked(timers) == given);
}

TEST_CASE("no timers take no room") {
  PackedTimers timers;
  CHECK(timers.empty());
  CHECK(timers.begin() == timers.end());
  timers.assign(std::vector<wire::TimerTotal>{{1, 1, 2, 2}});
  CHECK(!timers.empty());
  timers.assign({});
  CHECK(timers.empty());
}

}  // namespace l4::job
