// Single iterations that took far longer than usual, and who held the others up.
#include "aggregator/detect/delay/stalls.h"

#include <doctest/doctest.h>

#include <functional>
#include <random>

#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::delay {
namespace {

using job::test::MadeJob;

constexpr int kStallRanks = 8;

struct Made {
  int iterations = 60;
  std::function<double(int)> lap = [](int) { return 1000.0; };
  std::function<double(int, int)> loads = [](int, int) { return 40.0; };  ///< of iteration and rank
  std::function<void(MadeJob&, int, std::int64_t)> beside = [](MadeJob&, int, std::int64_t) {};
  std::int64_t step = 1;  ///< of printed times
  int finer = 0;          ///< the last time in this iteration has milliseconds all the same
};

MadeJob run(const Made& made) {
  MadeJob job(kStallRanks);
  double now = 0;
  for (int k = 1; k <= made.iterations; ++k) {
    const double before = now;
    now += made.lap(k);
    made.beside(job, k, static_cast<std::int64_t>(before) + 10);
    for (int rank = 0; rank < kStallRanks; ++rank)
      job.iterate(
          rank, k,
          static_cast<std::int64_t>(now) / made.step * made.step + (k == made.finer ? 475 : 0),
          made.loads(k, rank));
  }
  return job;
}

std::vector<Delay> find(const Made& made) {
  MadeJob job = run(made);
  const job::JobView view = job.view();
  return find_stalls(view, job::make_clock(view));
}

TEST_CASE("one long iteration is a stall, of all ranks if no phase tells whose") {
  const auto stalls = find({.lap = [](int k) { return k == 41 ? 8000.0 : 1000.0; }});
  REQUIRE(stalls.size() == 1);
  CHECK(stalls.front().iteration == Iteration{41});
  CHECK(stalls.front().ms == doctest::Approx(8000));
  CHECK(stalls.front().usual_ms == doctest::Approx(1000));
  CHECK_FALSE(stalls.front().rank);
  CHECK(find({.lap = [](int k) { return k == 41 ? 3200.0 : 200.0; }}).size() == 1);
}

TEST_CASE("the rank whose own phase took the time held the others up; stalls of it are one") {
  const auto stalls =
      find({.lap = [](int k) { return k % 17 == 0 ? 9000.0 : 1000.0; },
            .loads = [](int k, int rank) { return k % 17 == 0 && rank == 5 ? 8012.0 : 40.0; }});
  REQUIRE(stalls.size() == 1);
  CHECK(stalls.front().rank == 5u);
  CHECK(stalls.front().phase == "forward");
  CHECK(stalls.front().phase_ms == doctest::Approx(8012));
  CHECK(stalls.front().phase_usual_ms == doctest::Approx(40));
  CHECK(stalls.front().count == 3);
}

TEST_CASE("a phase that took long on all ranks names no rank") {
  const auto stalls = find({.lap = [](int k) { return k == 41 ? 9000.0 : 1000.0; },
                            .loads = [](int k, int) { return k == 41 ? 8012.0 : 40.0; }});
  REQUIRE(stalls.size() == 1);
  CHECK_FALSE(stalls.front().rank);
  CHECK(stalls.front().phase == "forward");
}

TEST_CASE("what healthy jobs do is no stall: warm-up, checkpoints, evaluations, what recurs") {
  std::mt19937 random(3);
  CHECK(find({.lap = [](int k) { return k <= 3 ? 20'000.0 : 1000.0; }}).empty());
  CHECK(find({.lap = [](int k) { return k % 15 == 0 ? 9000.0 : 1000.0; }}).empty());
  CHECK(find({.lap = [&](int) {
          return std::uniform_real_distribution(500.0, 2500.0)(random);
        }}).empty());
  const auto says = [](const char* text, int every) {
    return [=](MadeJob& job, int k, std::int64_t at) {
      if (k % every == 0) job.say(0, {text}, at).iteration = Iteration{k};
    };
  };
  const auto once = [](int k) { return k == 41 ? 9000.0 : 1000.0; };
  CHECK(find({.lap = once, .beside = says("saving checkpoint at step <*>", 41)}).empty());
  CHECK(find({.lap = once, .beside = says("validation loss <*>", 41)}).empty());
  // A line beside it that other iterations print, too, explains nothing.
  CHECK(find({.lap = once, .beside = says("link flaps", 1)}).size() == 1);
}

TEST_CASE("kind: clocks of whole seconds hide no stall of three if timers cover the time") {
  const auto job = [](double longest) {
    return Made{.lap = [=](int k) { return k == 41 ? longest + 20 : 250.0; },
                .loads = [=](int k, int rank) { return k == 41 && rank == 5 ? longest : 230.0; },
                .step = 1000};
  };
  const auto stalls = find(job(3000));
  REQUIRE(stalls.size() == 1);
  CHECK(stalls.front().iteration == Iteration{41});
  CHECK(stalls.front().rank == 5u);
  CHECK(find(job(600)).empty());
}

TEST_CASE(
    "kind: one line of another library with a finer time does not make the clock a fine one") {
  for (const int finer : {0, 1, 20}) {
    CAPTURE(finer);
    const auto stalls = find({.lap = [](int k) { return k == 41 ? 3200.0 : 270.0; },
                              .loads = [](int k, int) { return k == 41 ? 3180.0 : 250.0; },
                              .step = 1000,
                              .finer = finer});
    REQUIRE(stalls.size() == 1);
    CHECK(stalls.front().iteration == Iteration{41});
    CHECK_FALSE(stalls.front().rank);
  }
  CHECK(find({.lap = [](int) { return 270.0; }, .step = 1000, .finer = 1}).empty());
}

TEST_CASE("clocks of whole seconds make no stall of quick iterations, and hide no long one") {
  CHECK(find({.lap = [](int) { return 200.0; }, .step = 1000}).empty());
  CHECK(find({.lap = [](int) { return 700.0; }, .step = 1000}).empty());
  CHECK(find({.lap = [](int k) { return k == 41 ? 12'000.0 : 700.0; }, .step = 1000}).size() == 1);
}

}  // namespace
}  // namespace l4::detect::delay
