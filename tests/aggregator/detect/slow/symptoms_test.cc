// Which events go with a slowdown.
#include "aggregator/detect/slow/symptoms.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/aggregator/job/made_job.h"

namespace l4::detect::slow {
namespace {

using job::test::after;
using job::test::MadeJob;

const job::test::Say kRetry{"link error, retransmitting", Level::error};

/// Eight ranks; from iteration 61 on an iteration takes two seconds. `also` adds lines.
std::vector<std::string> symptoms(const std::function<void(MadeJob&, int k, std::int64_t ms)>& also,
                                  bool in_pool = false) {
  MadeJob made(8);
  std::int64_t now = 0;
  for (int k = 1; k <= 100; ++k) {
    now += k < 61 ? 1000 : 2000;
    also(made, k, now - 500);
    for (int rank = 0; rank < 8; ++rank) made.iterate(rank, k, now);
  }
  const job::JobView view = made.view();
  const job::JobClock clock = job::make_clock(view);
  const Slowdown slowdown = find_slowdown(view, clock);
  REQUIRE(slowdown.found);
  std::vector<EventHint> hints;
  for (const job::EventView& event : view.events) {
    EventHint hint;
    hint.severity = severity_of(event.text, event.level);
    hint.in_pool = in_pool && event.level >= Level::warning;
    hints.push_back(hint);
  }
  std::vector<std::string> texts;
  for (const auto& symptom : find_symptoms(view, clock, slowdown, hints).events) {
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

TEST_CASE("what goes with it is new, lasting and local") {
  CHECK(symptoms([](MadeJob&, int, std::int64_t) {}).empty());
  // All along.
  CHECK(symptoms([](MadeJob& job, int, std::int64_t ms) { job.say(5, kRetry, ms); }).empty());
  // A burst that is over.
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
  // Nothing bad.
  CHECK(symptoms([](MadeJob& job, int k, std::int64_t ms) {
          if (k >= 61) job.say(5, {"the weather is fine"}, ms);
        }).empty());
}

}  // namespace
}  // namespace l4::detect::slow
