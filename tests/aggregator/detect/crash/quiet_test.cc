// New lines that sound like no failure, beside those that do.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "aggregator/detect/crash/failure_events.h"
#include "aggregator/job/clock.h"
#include "tests/aggregator/detect/crash/made_hints.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::crash {
namespace {

using job::test::MadeJob;

/// Rank 2 of `ranks` dies at 30.5 s and all others lose it. True if the lines that `also` says
/// behind that, all of one text with "odd" in it, belong to the failure.
bool belongs(int ranks, const std::function<void(MadeJob&)>& also,
             const std::function<void(EventHint&)>& know = {}) {
  MadeJob made(ranks);
  made.iterate_all(1, 30);
  made.say(2, {"OutOfMemoryError: CUDA out of memory", Level::error}, 30'500);
  also(made);
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != 2) made.say(rank, {"Connection reset by peer", Level::error}, 32'000);
  const job::JobView view = made.view();
  const auto hints = test::make_hints(view, [&](const job::EventView& event, EventHint& hint) {
    test::note_wording(event, hint);
    if (know && event.text.find("odd") != std::string::npos) know(hint);
  });
  const auto found = find_failure_events(view, job::make_clock(view), hints);
  REQUIRE(found.fatal);
  return std::ranges::any_of(found.events, [&](const FailureEvent& event) {
    return view.events[event.event].text.find("odd") != std::string::npos;
  });
}

/// `count` ranks from the fourth on say it.
std::function<void(MadeJob&)> odd(Level level, int count = 1) {
  return [=](MadeJob& made) {
    for (int rank = 3; rank < 3 + count; ++rank) made.say(rank, {"odd pages here", level}, 31'000);
  };
}

TEST_CASE("quiet: what one rank alone warns of is no part of a failure that words tell") {
  for (const Level level : {Level::warning, Level::info}) {
    CAPTURE(level);
    CHECK_FALSE(belongs(8, odd(level)));
    CHECK(belongs(8, odd(level, 3)));
    CHECK(belongs(3, [&](MadeJob& made) { made.say(0, {"odd pages", level}, 31'000); }));
  }
  CHECK(belongs(8, odd(Level::unknown)));
}

TEST_CASE("quiet: details are none, however many print them") {
  for (const Level level : {Level::trace, Level::debug}) {
    CHECK_FALSE(belongs(8, odd(level)));
    CHECK_FALSE(belongs(8, odd(level, 5)));
  }
}

TEST_CASE("quiet: it is one where the rank that failed says it beside the failure") {
  const auto beside = [](int rank) {
    return belongs(
        8, [=](MadeJob& made) { made.say(rank, {"odd pages here", Level::warning}, 30'600); });
  };
  CHECK(beside(2));
  CHECK_FALSE(beside(5));
}

TEST_CASE("quiet: known faults are, unless they do nothing by themselves") {
  for (const bool harmless : {false, true}) {
    CAPTURE(harmless);
    const auto know = [&](EventHint& hint) {
      hint.known_fault = true;
      hint.harmless = harmless;
    };
    CHECK(belongs(8, odd(Level::warning), know) == !harmless);
  }
}

}  // namespace
}  // namespace l4::detect::crash
