// Phases that slowed for good, compared with the rank's own past and with its peers.
#include "aggregator/detect/delay/phases.h"

#include <doctest/doctest.h>

#include <functional>
#include <random>

#include "tests/aggregator/job/made_job.h"

namespace l4::detect::delay {
namespace {

using job::test::MadeJob;

constexpr int kPhaseRanks = 8;

std::vector<Delay> find(const std::function<double(int, int)>& forward) {
  MadeJob job(kPhaseRanks);
  for (int k = 1; k <= 80; ++k)
    for (int rank = 0; rank < kPhaseRanks; ++rank) job.iterate(rank, k, k * 1000, forward(k, rank));
  return find_slow_phases(job.view(), 1000);
}

TEST_CASE("a phase of one rank that takes longer from some iteration on is found") {
  std::mt19937 random(5);
  const auto noise = [&] { return std::uniform_real_distribution(0.95, 1.05)(random); };
  const auto slow =
      find([&](int k, int rank) { return noise() * (rank == 5 && k >= 31 ? 620.0 : 310.0); });
  REQUIRE(slow.size() == 1);
  CHECK(slow.front().rank == 5u);
  CHECK(slow.front().phase == "forward");
  CHECK(slow.front().iteration == Iteration{31});
  CHECK(slow.front().usual_ms == doctest::Approx(310).epsilon(0.05));
  CHECK(slow.front().ms == doctest::Approx(620).epsilon(0.05));
}

TEST_CASE("a rank that does more all along, all ranks at once, and what passes are no slow phase") {
  CHECK(find([](int, int rank) { return rank == 0 ? 900.0 : 310.0; }).empty());
  CHECK(find([](int k, int) { return k >= 31 ? 620.0 : 310.0; }).empty());
  CHECK(
      find([](int k, int rank) { return rank == 5 && k >= 31 && k < 50 ? 620.0 : 310.0; }).empty());
  CHECK(find([](int k, int rank) { return rank == 5 && k % 10 == 0 ? 3000.0 : 310.0; }).empty());
  CHECK(find([](int k, int rank) { return rank == 5 && k >= 31 ? 340.0 : 310.0; }).empty());
}

TEST_CASE("ranks that print times in turn but no number are compared by the numbers of a peer") {
  MadeJob job(kPhaseRanks);
  for (std::uint32_t k = 3; k <= 80; ++k)
    for (int rank = 0; rank < kPhaseRanks; ++rank) {
      const double ms = (rank == 5 && k >= 31 ? 620.0 : 310.0) + 3 * (k % 5);
      if (rank == 0) {
        job.iterate(rank, 1000 + k, k * 1000, ms).beat = k;
        continue;
      }
      wire::Segment& segment = job.say(rank, {"forward <*>"});
      segment.beat = k;
      segment.rounds = 1;
      segment.timers = {{0, 1, ms, ms}};
    }
  const auto slow = find_slow_phases(job.view(), 1000);
  REQUIRE(slow.size() == 1);
  CHECK(slow.front().rank == 5u);
  CHECK(slow.front().iteration == Iteration{1031});
}

TEST_CASE("a learned number that exceeds an iteration is no phase of it") {
  const auto find_learned = [](double ms) {
    MadeJob job(kPhaseRanks);
    for (int k = 1; k <= 80; ++k)
      for (int rank = 0; rank < kPhaseRanks; ++rank) {
        const double own = rank == 5 && k >= 31 ? 2 * ms : ms;
        job.iterate(rank, k, k * 1000).timers = {{3, 1, own, own}};
      }
    job.learn_timer(3, "cache age");
    return find_slow_phases(job.view(), 1000);
  };
  CHECK(find_learned(310).size() == 1);
  CHECK(find_learned(31000).empty());
}

}  // namespace
}  // namespace l4::detect::delay
