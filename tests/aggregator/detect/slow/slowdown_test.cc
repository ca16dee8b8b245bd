// Whether and since when iterations take longer, and which rank delays them.
#include "aggregator/detect/slow/slowdown.h"

#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <random>

#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::slow {
namespace {

using job::test::after;
using job::test::MadeJob;

/// Four ranks; iteration k takes duration(k) ms, of which forward(k, r) ms are rank r's own forward
/// pass.
MadeJob run(
    int iterations, const std::function<double(int)>& duration,
    const std::function<double(int, int)>& forward = [](int, int) { return 300.0; }) {
  MadeJob job(4);
  double now = 0;
  for (int k = 1; k <= iterations; ++k) {
    now += duration(k);
    for (int rank = 0; rank < 4; ++rank)
      job.iterate(rank, k, static_cast<std::int64_t>(now), forward(k, rank));
  }
  return job;
}

Slowdown find(MadeJob made) {
  const job::JobView view = made.view();
  return find_slowdown(view, job::make_clock(view));
}

TEST_CASE("a lasting shift is found with its first iteration") {
  for (const double ratio : {1.5, 2.0, 4.0}) {
    CAPTURE(ratio);
    const Slowdown slow = find(run(100, [&](int k) { return k < 61 ? 1000.0 : 1000 * ratio; }));
    REQUIRE(slow.found);
    CHECK(slow.first == Iteration{61});
    CHECK(slow.last == Iteration{100});
    CHECK(slow.since == after(60'000));
    CHECK(slow.ratio == doctest::Approx(ratio).epsilon(0.05));
    CHECK(slow.before_ms == doctest::Approx(1000).epsilon(0.05));
  }
}

/// The same with times of whole seconds, as most loggers print them.
MadeJob in_seconds(int iterations, const std::function<double(int)>& duration) {
  MadeJob job(2);
  double now = 0;
  for (int k = 1; k <= iterations; ++k) {
    now += duration(k);
    for (int rank = 0; rank < 2; ++rank)
      job.iterate(rank, k, static_cast<std::int64_t>(now / 1000) * 1000);
  }
  return job;
}

TEST_CASE("kind: stamps of whole seconds tell of iterations that take one or two") {
  for (const double ms : {1100.0, 1700.0, 2300.0, 3400.0})
    for (const double ratio : {1.7, 2.5})
      for (unsigned seed = 1; seed <= 5; ++seed) {
        CAPTURE(ms);
        CAPTURE(ratio);
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto noisy = [&](double mean) {
          return mean * std::uniform_real_distribution(0.97, 1.03)(random);
        };
        const auto usual = [&](int k) { return noisy(ms) + (k % 50 == 0 ? 9'000 : 0); };
        CHECK_FALSE(find(in_seconds(240, usual)).found);
        const Slowdown slow =
            find(in_seconds(240, [&](int k) { return noisy(k < 121 ? ms : ms * ratio); }));
        REQUIRE(slow.found);
        CHECK(std::abs(slow.first.value() - 121) <= 2);
        CHECK(slow.ratio == doctest::Approx(ratio).epsilon(0.15));
      }
}

TEST_CASE("scatter hides neither a shift nor makes one") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto noisy = [&](double ms) {
      return ms * std::uniform_real_distribution(0.93, 1.07)(random);
    };
    CHECK_FALSE(find(run(120, [&](int) { return noisy(1000); })).found);
    const Slowdown slow = find(run(120, [&](int k) { return noisy(k < 61 ? 1000 : 2000); }));
    REQUIRE(slow.found);
    CHECK(std::abs(slow.first.value() - 61) <= 1);
  }
}

TEST_CASE("checkpoints, one long iteration, a small drift and a new kind of work are no slowdown") {
  CHECK_FALSE(find(run(100, [](int k) { return k % 10 == 0 ? 6000.0 : 1000.0; })).found);
  CHECK_FALSE(find(run(100, [](int k) { return k == 70 ? 20'000.0 : 1000.0; })).found);
  CHECK_FALSE(find(run(100, [](int k) { return k < 61 ? 1000.0 : 1100.0; })).found);
  CHECK_FALSE(find(run(100, [](int k) { return k < 61 ? 100.0 : 5000.0; })).found);
  CHECK_FALSE(find(run(100, [](int k) { return k < 61 ? 2000.0 : 1000.0; })).found);  // faster
}

TEST_CASE("kind: only some iterations take longer, and the typical one as long as before") {
  const auto stutters = [](int k) { return k % 5 < 2 ? 2500.0 : 1000.0; };
  const Slowdown slow = find(run(120, [&](int k) { return k < 61 ? 1000.0 : stutters(k); }));
  REQUIRE(slow.found);
  CHECK(std::abs(slow.first.value() - 61) <= 1);
  CHECK(slow.last == Iteration{120});
  CHECK(slow.ratio > 1.3);
  CHECK(slow.after_ms > slow.before_ms);
  // As it was all along; too few; in a job that saves a checkpoint every fourth iteration.
  CHECK_FALSE(find(run(120, stutters)).found);
  CHECK_FALSE(find(run(66, [&](int k) { return k < 61 ? 1000.0 : stutters(k); })).found);
  CHECK_FALSE(find(run(120, [](int k) { return k > 60 && k % 4 == 0 ? 2500.0 : 1000.0; })).found);
}

TEST_CASE("kind: the pace of a few first iterations is not the usual one") {
  const auto shifts = [](int iterations, int from, double ratio) {
    return find(run(iterations, [&](int k) { return k < from ? 1000.0 : 1000 * ratio; })).found;
  };
  CHECK_FALSE(shifts(120, 13, 1.7));
  CHECK_FALSE(shifts(300, 30, 1.5));
  CHECK_FALSE(shifts(120, 14, 3.0));
  CHECK(shifts(120, 18, 1.7));
  CHECK(shifts(1000, 620, 1.7));  // only the newest 400 are compared
}

TEST_CASE("a small shift must last longer than a large one") {
  const auto shifted = [](double ratio, int slow) {
    return find(run(60 + slow, [&](int k) { return k < 61 ? 500.0 : 500 * ratio; })).found;
  };
  CHECK_FALSE(shifted(2.0, 7));   // 7 s
  CHECK(shifted(2.0, 9));         // 9 s
  CHECK(shifted(4.0, 5));         // 10 s
  CHECK_FALSE(shifted(1.4, 30));  // 21 s, but 34 s are needed
  CHECK(shifted(1.4, 50));        // 35 s
}

TEST_CASE("stamps of whole seconds hide no shift, wherever it is") {
  for (const int from : {40, 78, 110}) {
    CAPTURE(from);
    MadeJob job(4);
    std::int64_t now = 0;
    for (int k = 1; k <= 150; ++k) {
      now += k < from ? 450 : 1230;
      for (int rank = 0; rank < 4; ++rank) job.iterate(rank, k, now / 1000 * 1000);
    }
    const Slowdown slow = find(std::move(job));
    REQUIRE(slow.found);
    CHECK(std::abs(slow.first.value() - from) <= 8);
    // The ratio of the true durations.
    CHECK(slow.ratio == doctest::Approx(1230.0 / 450).epsilon(0.3));
  }
}

TEST_CASE("where stamps are of whole seconds timers tell of a smaller shift") {
  MadeJob job(4);
  std::int64_t now = 0;
  for (int k = 1; k <= 130; ++k) {
    const double took = (k < 83 ? 570 : 930) + k % 7 * 20;
    now += static_cast<std::int64_t>(took) + (k % 60 == 0 ? 1800 : 0);
    for (int rank = 0; rank < 4; ++rank)
      job.iterate(rank, k, now / 1000 * 1000).timers = {{0, 1, 300, 300},
                                                        {1, 1, took - 310, took - 310}};
  }
  const Slowdown slow = find(std::move(job));
  REQUIRE(slow.found);
  CHECK(slow.first == Iteration{83});
  CHECK(slow.ratio == doctest::Approx(960.0 / 600).epsilon(0.1));
}

TEST_CASE("how long it lasts is real time, however many iterations lie between two lines") {
  const auto every = [](int stride, int slow) {
    MadeJob job(4);
    std::int64_t now = 0;
    for (int k = 1; k <= 60 + slow; ++k) {
      now += (k < 61 ? 10 : 20) * stride;
      for (int rank = 0; rank < 4; ++rank) job.iterate(rank, std::int64_t{k} * stride, now);
    }
    return find(std::move(job)).found;
  };
  CHECK(every(100, 20));       // 40 s
  CHECK_FALSE(every(1, 20));   // 0.4 s
  CHECK_FALSE(every(10, 20));  // 4 s
}

TEST_CASE("few iterations tell nothing") {
  for (const int iterations : {0, 1, 5, 14})
    CHECK_FALSE(find(run(iterations, [](int k) { return k < 5 ? 1000.0 : 3000.0; })).found);
}

TEST_CASE("a slow phase that is over is found where it was") {
  const Slowdown slow = find(run(150, [](int k) { return k >= 61 && k <= 85 ? 2500.0 : 1000.0; }));
  REQUIRE(slow.found);
  CHECK(slow.first == Iteration{61});
  CHECK(slow.last == Iteration{85});
}

TEST_CASE("a slow start is how a job warms up") {
  const auto warming = [](int k) { return k <= 9 ? 3000.0 : k <= 14 ? 1700.0 : 1000.0; };
  CHECK_FALSE(find(run(100, warming)).found);
  const Slowdown slow =
      find(run(100, [&](int k) { return k >= 60 && k < 75 ? 2000 : warming(k); }));
  REQUIRE(slow.found);
  CHECK(slow.first == Iteration{60});
  CHECK(slow.last == Iteration{74});
}

TEST_CASE("iterations of another run, whose numbers are far away, are nothing to compare with") {
  for (const std::int64_t away : {0, 40'000}) {
    CAPTURE(away);
    MadeJob job(4);
    std::int64_t now = 0;
    for (std::int64_t k = 1; k <= 60; ++k) {
      now += k <= 30 ? 1000 : 2000;
      for (int rank = 0; rank < 4; ++rank) job.iterate(rank, k + (k > 30 ? away : 0), now);
    }
    CHECK(find(std::move(job)).found == (away == 0));
  }
}

TEST_CASE("kind: numbers that are printed more rarely count in what comes between") {
  for (const int stride : {2, 3, 10}) {
    CAPTURE(stride);
    MadeJob job(1);
    std::int64_t now = 0;
    std::int64_t k = 0;
    for (int i = 0; i < 20; ++i) job.iterate(0, ++k, now += 10'000);
    for (int i = 0; i < 10; ++i) job.iterate(0, k += stride, now += stride * 15'000);
    const job::JobView view = job.view();
    CHECK_FALSE(find_slowdown(view, job::make_clock(view)).found);
  }
}

TEST_CASE("kind: a few numbers, printed at odd distances, tell of a large shift") {
  for (const double ratio : {1.0, 1.5, 2.5, 6.0}) {
    CAPTURE(ratio);
    MadeJob job(1);
    double now = 0;
    std::int64_t k = 0;
    for (const int step : {3, 9, 4, 12, 6, 14, 7, 10, 4, 11, 6, 9}) {
      k += step;
      now += 8000.0 * step * (k > 50 ? ratio : 1);
      job.iterate(0, k, static_cast<std::int64_t>(now));
    }
    const job::JobView view = job.view();
    const Slowdown slow = find_slowdown(view, job::make_clock(view));
    CHECK(slow.found == (ratio >= 2));
    if (slow.found) CHECK(slow.first == Iteration{55});
  }
}

TEST_CASE(
    "kind 'each tenth is printed': the step at the border tells in which iteration it began") {
  for (const std::int64_t begin : {201, 203, 205, 208, 210})
    for (const double noise : {0.0, 0.04}) {
      CAPTURE(begin);
      CAPTURE(noise);
      MadeJob job(2);
      double now = 0;
      for (std::int64_t k = 1; k <= 400; ++k) {
        const double off = noise * (k % 3 == 0 ? 1 : k % 3 == 1 ? -1 : 0);
        now += 1000.0 * (k >= begin ? 2 : 1) * (1 + off);
        if (k % 10 == 0) job.iterate(0, k, static_cast<std::int64_t>(now));
      }
      const job::JobView view = job.view();
      const Slowdown slow = find_slowdown(view, job::make_clock(view));
      REQUIRE(slow.found);
      CHECK(std::abs(slow.first.value() - begin) <= 1);
      REQUIRE(slow.since);
      const auto since = (*slow.since - job::test::after(0)).count();
      CHECK(std::abs(static_cast<double>(since) - 1000.0 * static_cast<double>(begin - 1)) < 2500);
    }
}

TEST_CASE("kind 'each tenth is printed': where only some are long, no step tells where it began") {
  MadeJob job(2);
  double now = 0;
  for (std::int64_t k = 10; k <= 1400; k += 10) {
    now += 10'000.0 * (k > 700 && k % 50 < 20 ? 2.5 : 1);
    job.iterate(0, k, static_cast<std::int64_t>(now));
  }
  const job::JobView view = job.view();
  const Slowdown slow = find_slowdown(view, job::make_clock(view));
  REQUIRE(slow.found);
  CHECK(slow.first.value() % 10 == 0);
  CHECK(slow.first >= Iteration{700});
  CHECK(slow.first <= Iteration{750});
}

TEST_CASE("kind: another job's numbers behind a jump are not compared, however few") {
  for (const int more : {3, 8, 30}) {
    CAPTURE(more);
    MadeJob job(1);
    std::int64_t now = 0;
    for (int k = 1; k <= 50; ++k) job.iterate(0, k, now += 25'000);
    for (int k = 0; k < more; ++k) job.iterate(0, 31'000 + k, now += 106'000);
    const job::JobView view = job.view();
    CHECK_FALSE(find_slowdown(view, job::make_clock(view)).found);
  }
}

TEST_CASE("the rank whose own work grew is named") {
  const Slowdown slow = find(run(
      100, [](int k) { return k < 61 ? 1000.0 : 2000.0; },
      [](int k, int rank) { return k >= 61 && rank == 2 ? 1300.0 : 300.0; }));
  REQUIRE(slow.found);
  REQUIRE_FALSE(slow.drags.empty());
  CHECK(slow.drags.front().rank == 2);
  CHECK(slow.drags.front().timer == "forward");
  CHECK(slow.drags.front().before_ms == doctest::Approx(300));
  CHECK(slow.drags.front().after_ms == doctest::Approx(1300));
  CHECK(slow.drags.front().score == doctest::Approx(1000));
}

TEST_CASE("where all grow alike nobody drags") {
  const Slowdown slow = find(run(
      100, [](int k) { return k < 61 ? 1000.0 : 2000.0; },
      [](int k, int) { return k >= 61 ? 1300.0 : 300.0; }));
  REQUIRE(slow.found);
  CHECK(slow.drags.empty());
}

TEST_CASE("a rank that was slow from the start is no drag") {
  const Slowdown slow = find(run(
      100, [](int k) { return k < 61 ? 1000.0 : 2000.0; },
      [](int k, int rank) { return rank == 1              ? 900.0
                                   : k >= 61 && rank == 3 ? 800.0
                                                          : 300.0; }));
  REQUIRE(slow.found);
  REQUIRE_FALSE(slow.drags.empty());
  CHECK(slow.drags.front().rank == 3);
}

TEST_CASE("time spent waiting accuses nobody") {
  MadeJob job(4);
  std::int64_t now = 0;
  for (int k = 1; k <= 100; ++k) {
    now += k < 61 ? 1000 : 2000;
    for (int rank = 0; rank < 4; ++rank) {
      const double wait = k >= 61 && rank != 2 ? 1500.0 : 100.0;
      job.iterate(rank, k, now).timers = {{0, 1, 300, 300}, {1, 1, wait, wait}};
    }
  }
  const Slowdown slow = find(std::move(job));
  REQUIRE(slow.found);
  for (const Drag& drag : slow.drags) CHECK(drag.timer != "allreduce");
}

/// Counted signs of progress of rank 0.
struct Signs {
  void say(const char* text, std::int64_t ms) {
    wire::Segment& segment = job.say(0, {text, Level::info, wire::kMarkProgress}, now += ms);
    segment.iteration = Iteration{++sign};
    segment.boundary = wire::Boundary::completed;
    segment.counted = true;
  }
  MadeJob& job;
  std::int64_t now = 0, sign = 0;
};

/// Counted signs: after each step of `step(k)` ms, every fifth time three quick ones of another
/// kind.
Slowdown of_signs(const std::function<std::int64_t(int)>& step, const char* quick) {
  MadeJob job(2);
  Signs signs{job};
  for (int k = 1; k <= 60; ++k) {
    signs.say("a batch was learned, loss <*>", step(k));
    for (int i = 0; i < 3 && k % 5 == 0; ++i) signs.say(quick, 40);
  }
  return find(std::move(job));
}

TEST_CASE("kind: signs of progress of several kinds each have a pace of their own") {
  for (const char* quick : {"score <*> on held out data", "shard <*> was read"}) {
    CAPTURE(quick);
    CHECK_FALSE(of_signs([](int) { return 3000; }, quick).found);
    const Slowdown slow = of_signs([](int k) { return k < 36 ? 3000 : 5000; }, quick);
    REQUIRE(slow.found);
    CHECK(slow.since == after(35 * 3000 + 6 * 3 * 40));
    CHECK(slow.ratio == doctest::Approx(5.0 / 3).epsilon(0.05));
  }
}

TEST_CASE("kind: evaluations that become more frequent make no job slow") {
  for (const Stage stage : {Stage::evaluation, Stage::checkpoint_save, Stage::training}) {
    CAPTURE(stage);
    MadeJob job(1);
    std::int64_t now = 0;
    for (int k = 1; k <= 80; ++k) {
      job.iterate(0, k, now += 10'000);
      if (k < 40 || k % 2 != 0) continue;
      job.say(0, {"looks at other data"}, now + 1).stage = stage;
      job.say(0, {"has looked at other data"}, now += 8'000).stage = stage;
    }
    CHECK(find(std::move(job)).found == (stage == Stage::training));
  }
}

TEST_CASE("kind: timers that leave out most of an iteration do not tell how long a phase lasts") {
  for (const std::int64_t hours : {0, 1}) {
    CAPTURE(hours);
    MadeJob job(1);
    job.say(0, {"ready"}, 1000);
    for (int k = 1; k <= 100; ++k) job.iterate(0, k, std::nullopt, k < 41 ? 5 : 15);
    job.source_of(0).modified = after(10'000 + hours * 3'600'000);
    const job::JobView view = job.view(0, true);
    CHECK(find_slowdown(view, job::make_clock(view)).found == (hours > 0));
  }
}

TEST_CASE("kind: many quick signs between the steps do not hide how many steps there were") {
  MadeJob job(1);
  Signs signs{job};
  for (int k = 1; k <= 100; ++k) {
    signs.say("a block was learned, loss <*>", k < 41 ? 10'000 : 20'000);
    for (int i = 0; i < 9; ++i) signs.say("a part of a block was scored", 3);
  }
  const Slowdown slow = find(std::move(job));
  REQUIRE(slow.found);
  CHECK(slow.since == after(40 * 10'000 + 39 * 9 * 3));
}

/// The durations of the iterations scatter too much to tell by themselves.
double scattered(int k, double ms) {
  constexpr double kShares[] = {0.7, 1.3, 0.6, 1.0, 1.4, 0.75, 1.2};
  return ms * kShares[k % 7];
}

Slowdown find_rated(const std::function<double(int)>& duration, std::optional<RateFall> rates) {
  MadeJob made = run(30, duration);
  const job::JobView view = made.view();
  return find_slowdown(view, job::make_clock(view), {}, rates);
}

TEST_CASE("kind: rates confirm a shift of times that scatter, and no more than that") {
  const auto slower = [](int k) { return scattered(k, k < 17 ? 10'000 : 16'000); };
  const auto steady = [](int k) { return scattered(k, 10'000); };
  const RateFall fall{Iteration{17}, 1.6};
  CHECK_FALSE(find_rated(slower, std::nullopt).found);
  const Slowdown slow = find_rated(slower, fall);
  REQUIRE(slow.found);
  CHECK(slow.first == Iteration{17});
  CHECK(slow.earliest == slow.first);
  CHECK_FALSE(find_rated(steady, fall).found);
  CHECK_FALSE(find_rated(slower, RateFall{Iteration{17}, 1.1}).found);
  CHECK_FALSE(find_rated(slower, RateFall{Iteration{29}, 1.6}).found);  // too young
}

}  // namespace
}  // namespace l4::detect::slow
