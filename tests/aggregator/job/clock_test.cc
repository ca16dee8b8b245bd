// The job clock: ticks, pace and progress from the ranks that print iterations.
#include "aggregator/job/clock.h"

#include <doctest/doctest.h>

#include "tests/aggregator/job/made_job.h"

namespace l4::job {
namespace {

using test::after;
using test::MadeJob;

TEST_CASE("ticks, pace and progress of a steady job") {
  MadeJob job(4);
  job.iterate_all(1, 20, 500);
  const JobClock clock = make_clock(job.view());
  CHECK(clock.has_iterations());
  REQUIRE(clock.ticks.size() == 20);
  CHECK(clock.ticks[6].iteration == Iteration{7});
  CHECK(clock.ticks[6].first_done == after(3500));
  CHECK(clock.ticks[6].streams == 4);
  CHECK(clock.ticks[6].duration_ms == doctest::Approx(500));
  CHECK(clock.stride == 1);
  CHECK(clock.dense_ranks.size() == 4);
  CHECK(clock.completed_by_any == Iteration{20});
  CHECK(clock.first_incomplete == Iteration{21});
  CHECK(clock.first_progress == after(500));
  CHECK(clock.last_progress == after(10'000));
  CHECK(clock.gap_median_ms == doctest::Approx(500));
  CHECK(clock.gap_max_ms == doctest::Approx(500));
  CHECK_FALSE(clock.counted);
}

TEST_CASE("the first incomplete iteration is that of the slowest rank") {
  MadeJob job(4);
  job.iterate_all(1, 20);
  for (const int rank : {0, 1, 3}) job.iterate(rank, 21, 21'000);
  const JobClock clock = make_clock(job.view());
  CHECK(clock.completed_by_any == Iteration{21});
  CHECK(clock.first_incomplete == Iteration{21});
}

TEST_CASE("one rank that prints is enough, each tenth iteration is, too") {
  MadeJob job(8);
  for (int rank = 0; rank < 8; ++rank) job.say(rank, {"hello out there"}, 0);
  for (std::int64_t k = 10; k <= 200; k += 10) job.iterate(7, k, k * 100);
  const JobClock clock = make_clock(job.view());
  CHECK(clock.stride == 10);
  REQUIRE(clock.dense_ranks.size() == 1);
  CHECK(clock.completed_by_any == Iteration{200});
  CHECK(clock.last_progress == after(20'000));
  CHECK(clock.ticks[3].duration_ms == doctest::Approx(100));
}

TEST_CASE("a rank that logs less often does not hold the job back") {
  MadeJob job(3);
  job.iterate_all(1, 40);
  MadeJob mixed(3);
  for (std::int64_t k = 1; k <= 40; ++k) {
    mixed.iterate(0, k, k * 1000);
    mixed.iterate(1, k, k * 1000);
    if (k % 16 == 0) mixed.iterate(2, k, k * 1000);
  }
  CHECK(make_clock(mixed.view()).first_incomplete == make_clock(job.view()).first_incomplete);
}

TEST_CASE("a long pause shows in the largest gap and not in the usual one") {
  MadeJob job(2);
  for (int rank = 0; rank < 2; ++rank)
    for (std::int64_t k = 1; k <= 20; ++k) job.iterate(rank, k, k * 1000 + (k > 10 ? 30'000 : 0));
  const JobClock clock = make_clock(job.view());
  CHECK(clock.gap_median_ms == doctest::Approx(1000));
  CHECK(clock.gap_max_ms == doctest::Approx(31'000));
}

TEST_CASE("numbers that nobody printed are passed over, and that takes its time") {
  MadeJob job(1);
  std::int64_t k = 0;
  for (const std::int64_t step : {1, 1, 1, 8, 1, 1, 1, 4000, 1, 1}) {
    k += step;
    job.iterate(0, k, k * 1000);
  }
  const JobClock clock = make_clock(job.view());
  CHECK(clock.stride == 1);
  CHECK(clock.gap_median_ms == doctest::Approx(1000));
  CHECK(clock.gap_max_ms == doctest::Approx(8000));  // 4,000 at once is another run
}

TEST_CASE("without times the phase timers tell how long iterations took") {
  MadeJob job(2);
  for (std::int64_t k = 1; k <= 10; ++k)
    for (int rank = 0; rank < 2; ++rank) job.iterate(rank, k, std::nullopt, 250);
  const JobClock clock = make_clock(job.view());
  CHECK(clock.completed_by_any == Iteration{10});
  CHECK_FALSE(clock.last_progress.has_value());
  CHECK(clock.ticks[5].duration_ms == doctest::Approx(250));
}

TEST_CASE("a timer of the whole iteration stands for it, whatever parts are printed beside it") {
  MadeJob job(1);
  job.name_timer(3, "iteration");
  for (std::int64_t k = 1; k <= 10; ++k) {
    auto& timers = job.iterate(0, k, std::nullopt, 250).timers;  // forward
    timers.push_back({3, 1, 400, 400});
    if (k % 2 == 0) timers.erase(timers.begin());  // in which lines the parts come is no matter
  }
  const JobClock clock = make_clock(job.view());
  for (const ClockTick& tick : clock.ticks) CHECK(tick.duration_ms == doctest::Approx(400));
}

/// Each number is printed four times; with `turns`, in turns with the next three numbers.
JobClock printed_four_times(bool turns) {
  MadeJob job(1);
  std::int64_t now = 0;
  for (std::int64_t k = 10; k <= 200; k += 10)
    for (int time = 0; time < 4; ++time) {
      now += 1000;
      job.iterate(0, k + (turns ? 10 * time : 0), now).begin = after(now - 1000);
    }
  return make_clock(job.view());
}

TEST_CASE("numbers that come again after the next one say nothing of the pace") {
  CHECK(printed_four_times(false).paced);
  const JobClock clock = printed_four_times(true);
  CHECK_FALSE(clock.paced);
  CHECK(clock.counted);
  CHECK(clock.last_progress == after(80'000));
}

TEST_CASE("numbers grow with time on each rank, whatever the clocks of other nodes say") {
  // Lines with a time are rare: each iteration has them on one node only.
  MadeJob job(2);
  for (std::int64_t k = 1; k <= 40; ++k)
    for (int rank = 0; rank < 2; ++rank) {
      const bool timed = k % 2 == rank;
      const std::int64_t ms = 10'000 + k * 1000 - rank * 3000;
      job.iterate(rank, k, timed ? std::optional<std::int64_t>(ms) : std::nullopt);
    }
  const JobClock clock = make_clock(job.view());
  CHECK(clock.paced);
  CHECK_FALSE(clock.counted);
  CHECK(clock.first_incomplete == Iteration{41});
}

TEST_CASE("numbers that do not grow with time still tell how long a silence may last") {
  MadeJob job(1);
  std::int64_t now = 0;
  for (int run = 0; run < 6; ++run)  // runs in one file: the same numbers, in another order
    for (std::int64_t k = 1; k <= 10; ++k)
      job.iterate(0, 10 * (run % 2 == 0 ? k : 21 - k), now += k == 1 ? 900'000 : 15'000);
  const JobClock clock = make_clock(job.view());
  CHECK_FALSE(clock.paced);
  CHECK(clock.dense_ranks.empty());
  CHECK(clock.stride == 10);
  CHECK(clock.gap_median_ms == doctest::Approx(15'000));
  CHECK(clock.gap_max_ms == doctest::Approx(15'000));
}

TEST_CASE("counted progress gives way to printed iterations") {
  MadeJob counted(2);
  for (std::int64_t k = 1; k <= 10; ++k)
    for (int rank = 0; rank < 2; ++rank) counted.iterate(rank, k, k * 1000).counted = true;
  CHECK(make_clock(counted.view()).counted);

  MadeJob both(2);
  for (std::int64_t k = 1; k <= 30; ++k) {
    both.iterate(0, k, k * 1000).counted = true;
    if (k <= 10) both.iterate(1, 100 + k, k * 1000);
  }
  const JobClock clock = make_clock(both.view());
  CHECK_FALSE(clock.counted);
  CHECK(clock.completed_by_any == Iteration{110});
}

TEST_CASE("where hardly a number is printed, signs of progress tell whether the job goes on") {
  for (const std::int64_t printed : {1, 2, 3}) {
    CAPTURE(printed);
    MadeJob job(2);
    for (std::int64_t k = 1; k <= 30; ++k) {
      job.iterate(0, k, k * 1000).counted = true;
      if (k <= printed) job.iterate(1, 100 + k, k * 100);
    }
    const JobClock clock = make_clock(job.view());
    CHECK_FALSE(clock.counted);
    CHECK(clock.completed_by_any == Iteration{100 + printed});
    CHECK(clock.last_progress == after(printed < 3 ? 30'000 : 300));
    CHECK(clock.gap_max_ms == doctest::Approx(printed < 3 ? 1000 : 100));
  }
}

TEST_CASE("signs of progress without a time of their own tell nothing of the end") {
  for (const bool timed : {true, false}) {
    CAPTURE(timed);
    MadeJob job(1);
    job.say(0, {"stamped"}, 1000);
    const auto at = [&](std::int64_t ms) {
      return timed ? std::optional<std::int64_t>(ms) : std::nullopt;
    };
    for (std::int64_t k = 1; k <= 5; ++k) {
      job.iterate(0, k, std::nullopt);
      job.say(0, {"{'loss': 0.5}", Level::info, wire::kMarkProgress}, at(k * 2000));
    }
    job.say(0, {"stopped"}, 90'000);
    const auto last = make_clock(job.view()).last_progress;
    CHECK(last == (timed ? std::optional(after(10'000)) : std::nullopt));
  }
}

TEST_CASE("nobody prints iterations") {
  MadeJob job(2);
  job.say(0, {"hello out there"}, 5);
  const JobClock clock = make_clock(job.view());
  CHECK_FALSE(clock.has_iterations());
  CHECK(clock.ticks.empty());
  CHECK_FALSE(clock.first_incomplete.has_value());
  CHECK_FALSE(clock.last_progress.has_value());
}

}  // namespace
}  // namespace l4::job
