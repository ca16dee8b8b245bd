// Ranks that began long after their peers.
#include "aggregator/detect/delay/late_starts.h"

#include <doctest/doctest.h>

#include <functional>

#include "tests/aggregator/job/made_job.h"

namespace l4::detect::delay {
namespace {

using job::test::MadeJob;

constexpr int kRanks = 8;

/// Rank r begins begin(r) ms after the first; all are in step from their third line on.
MadeJob started(const std::function<std::int64_t(int)>& begin) {
  MadeJob job(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::int64_t at = begin(rank) + rank * 30;
    job.say(rank, {"process starts"}, at);
    job.say(rank, {"process group is made"}, at + 400);
    job.say(rank, {"model is built"}, 300'000 + rank * 20);
    for (int k = 1; k <= 20; ++k) job.iterate(rank, k, 300'000 + k * 1000);
  }
  return job;
}

std::vector<Delay> find(MadeJob made) {
  return find_late_starts(made.view());
}

TEST_CASE("a rank that says nothing long after its peers began and then is in step came late") {
  const auto late = find(started([](int rank) { return rank == 5 ? 95'000 : 0; }));
  REQUIRE(late.size() == 1);
  CHECK(late.front().rank == 5u);
  CHECK(late.front().ms == doctest::Approx(95'000).epsilon(0.01));
}

TEST_CASE("starts spread over seconds, half of the ranks, or another clock are not late") {
  CHECK(find(started([](int rank) { return rank * 1'500; })).empty());
  CHECK(find(started([](int rank) { return rank % 2 == 0 ? 95'000 : 0; })).empty());
  MadeJob skewed(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::int64_t clock = rank == 5 ? 95'000 : 0;
    skewed.say(rank, {"process starts"}, clock);
    skewed.say(rank, {"process group is made"}, clock + 400);
    skewed.say(rank, {"model is built"}, clock + 2'000);
  }
  CHECK(find(std::move(skewed)).empty());
}

TEST_CASE("a line that one rank prints late is no late start") {
  MadeJob job = started([](int) { return 0; });
  for (int rank = 0; rank < kRanks; ++rank)
    job.say(rank, {"cache is warm"}, rank == 5 ? 200'000 : 9'000);
  CHECK(find(std::move(job)).empty());
}

}  // namespace
}  // namespace l4::detect::delay
