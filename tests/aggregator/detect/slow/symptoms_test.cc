// Events that accompany a slowdown.
#include "aggregator/detect/slow/symptoms.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::slow {
namespace {

using job::test::after;
using job::test::MadeJob;

const job::test::Say kRetry{"link error, retransmitting", Level::error};

std::vector<EventHint> hints_of(const job::JobView& view, bool in_pool = false) {
  std::vector<EventHint> hints;
  for (const job::EventView& event : view.events) {
    EventHint hint;
    hint.severity = severity_of(event.text, event.level);
    hint.in_pool = in_pool && event.level >= Level::warning;
    hints.push_back(hint);
  }
  return hints;
}

/// Eight ranks; from iteration 61 on an iteration takes two seconds. `also` adds lines.
/// The own work of rank `drags` takes as much longer.
std::vector<std::string> symptoms(const std::function<void(MadeJob&, int k, std::int64_t ms)>& also,
                                  bool in_pool = false, int drags = -1) {
  MadeJob made(8);
  std::int64_t now = 0;
  for (int k = 1; k <= 100; ++k) {
    now += k < 61 ? 1000 : 2000;
    also(made, k, now - 500);
    for (int rank = 0; rank < 8; ++rank)
      made.iterate(rank, k, now, k >= 61 && rank == drags ? 1300 : 300);
  }
  const job::JobView view = made.view();
  const job::JobClock clock = job::make_clock(view);
  const Slowdown slowdown = find_slowdown(view, clock);
  REQUIRE(slowdown.found);
  std::vector<std::string> texts;
  for (const auto& symptom : find_symptoms(view, clock, slowdown, hints_of(view, in_pool)).events) {
    texts.push_back(view.events[symptom.event].text);
    CHECK(symptom.first_time.has_value());
  }
  return texts;
}

TEST_CASE("an error that begins with the slowdown and keeps coming on one node goes with it") {
  const auto lines = [](MadeJob& job, int k, std::int64_t ms) {
    if (k >= 61) job.say(5, kRetry, ms);
  };
  CHECK(symptoms(lines) == std::vector<std::string>{kRetry.text});
  CHECK(symptoms(lines, true).empty());
}

TEST_CASE("kind: where one rank's own work explains it, what others print does not go with it") {
  const auto lines = [](MadeJob& job, int k, std::int64_t ms) {
    if (k >= 61) job.say(5, kRetry, ms);
  };
  CHECK(symptoms(lines, false, 5) == std::vector<std::string>{kRetry.text});
  CHECK(symptoms(lines, false, 2).empty());
}

TEST_CASE("what goes with it is new, lasting and local") {
  CHECK(symptoms([](MadeJob&, int, std::int64_t) {}).empty());
  // All along.
  CHECK(symptoms([](MadeJob& job, int, std::int64_t ms) { job.say(5, kRetry, ms); }).empty());
  // Adds a burst that is over before the job is.
  CHECK(symptoms([](MadeJob& job, int k, std::int64_t ms) {
          if (k >= 61 && k <= 64) job.say(5, kRetry, ms);
        }).empty());
  // Once.
  CHECK(symptoms([](MadeJob& job, int k, std::int64_t ms) {
          if (k == 99) job.say(5, kRetry, ms);
        }).empty());
  // Everywhere.
  CHECK(symptoms([](MadeJob& job, int k, std::int64_t ms) {
          if (k >= 61) job.say(k % 8, kRetry, ms);
        }).empty());
  // A checkpoint every twentieth iteration, the first by chance when it begins.
  CHECK(symptoms([](MadeJob& job, int k, std::int64_t ms) {
          if (k >= 60 && k % 20 == 0) job.say(0, {"saved a checkpoint"}, ms);
        }).empty());
  // No word tells that it is bad: the comparison does, unless another symptom sounds bad.
  const auto said = [](bool retries) {
    return symptoms([=](MadeJob& job, int k, std::int64_t ms) {
      if (k < 61) return;
      job.say(5, {"the weather is fine"}, ms);
      if (retries) job.say(5, kRetry, ms);
    });
  };
  CHECK(said(false) == std::vector<std::string>{"the weather is fine"});
  CHECK(said(true) == std::vector<std::string>{kRetry.text});
}

TEST_CASE("what no healthy run prints goes with it sooner than what is only new") {
  const auto lines = [](MadeJob& job, int k, std::int64_t ms) {
    job.say(3, kRetry, ms);
    if (k == 62 || k == 95) job.say(5, {"the weather is fine"}, ms);
  };
  CHECK(symptoms(lines, false).empty());
  CHECK(symptoms(lines, true) == std::vector<std::string>{"the weather is fine"});
}

/// `count` iterations of 5 s, except that the last `slow` take 12 s; in each of these, rank 5 of
/// eight prints `lines` errors.
Slowdown in_short(int count, int slow, int lines, bool in_pool = false) {
  MadeJob made(8);
  std::int64_t now = 0;
  for (int k = 1; k <= count; ++k) {
    const bool is_slow = k > count - slow;
    now += is_slow ? 12'000 : 5'000;
    for (int i = 0; is_slow && i < lines; ++i) made.say(5, kRetry, now - 500 * (i + 1));
    for (int rank = 0; rank < 8; ++rank) made.iterate(rank, k, now);
  }
  const job::JobView view = made.view();
  return find_short_slowdown(view, job::make_clock(view), hints_of(view, in_pool));
}

TEST_CASE("a young job is slow if an error keeps coming with it") {
  const Slowdown slow = in_short(7, 3, 2);
  REQUIRE(slow.found);
  CHECK(slow.by_symptoms);
  CHECK(slow.first == Iteration{5});
  CHECK(slow.since == after(20'000));
}

TEST_CASE("of a young job neither times nor errors alone tell") {
  CHECK_FALSE(in_short(7, 3, 0).found);
  CHECK_FALSE(in_short(7, 3, 2, true).found);  // healthy runs print the line, too
  CHECK_FALSE(in_short(7, 2, 1).found);        // twice
  CHECK_FALSE(in_short(3, 2, 2).found);        // too few iterations before the shift
  CHECK_FALSE(in_short(30, 10, 2).found);      // long enough for find_slowdown()
  MadeJob even(8);
  even.iterate_all(1, 7, 5'000);
  for (int k = 4; k < 7; ++k) even.say(5, kRetry, 5'000 * k);
  const job::JobView view = even.view();
  CHECK_FALSE(find_short_slowdown(view, job::make_clock(view), hints_of(view)).found);
}

TEST_CASE("kind: where times scatter, an error may begin before the slowest part does") {
  constexpr double kShares[] = {0.8, 1.6, 1.0, 0.82, 1.3, 2.0};
  MadeJob made(8);
  double now = 0;
  for (int k = 1; k <= 75; ++k) {
    const double usual = k < 31 ? 1000 : k >= 55 && k < 67 ? 3000 : 1500;
    now += usual * kShares[k % 6];
    const auto ms = static_cast<std::int64_t>(now);
    if (k >= 31) made.say(5, kRetry, ms - 500);
    for (int rank = 0; rank < 8; ++rank) made.iterate(rank, k, ms, 300);
  }
  const job::JobView view = made.view();
  const job::JobClock clock = job::make_clock(view);
  const Slowdown slowdown = find_slowdown(view, clock);
  REQUIRE(slowdown.found);
  CHECK(slowdown.first > Iteration{50});
  CHECK(slowdown.earliest <= Iteration{32});
  CHECK(slowdown.earliest >= Iteration{30});
  CHECK(find_symptoms(view, clock, slowdown, hints_of(view)).events.size() == 1);
}

}  // namespace
}  // namespace l4::detect::slow
