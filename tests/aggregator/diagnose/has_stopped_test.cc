// Whether a job is over or stands still, for jobs whose healthy runs are known.
#include <doctest/doctest.h>

#include <string_view>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/diagnose/verdict.h"
#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::diagnose {
namespace {

using job::test::MadeJob;

/// A job whose last two lines no healthy run prints, and nothing follows; the last begins `stage`,
/// or what it begins ends by a line more.
/// `usual`: it was in this stage before.
bool has_stopped_behind(Stage stage, bool overdue, bool ends = false, bool usual = false,
                        bool parted = false) {
  MadeJob job(2);
  job.iterate_all(1, 20);
  if (usual) {
    job.say(0, {"one line more"}, 20'400).stage = stage;
    job.say(0, {"saved, or evaluated"}, 20'500).stage = Stage::training;
  }
  job.iterate_all(21, 30);
  job.say(0, {"one line more"}, 31'000).stage = stage;
  if (ends) job.say(0, {"saved, or evaluated"}, 31'500).stage = Stage::training;
  const job::JobView view = job.view();
  const job::JobClock clock = job::make_clock(view);
  const Hints hints;
  Findings findings{view, clock, hints};
  findings.failures.pooled = findings.failures.closed = true;
  findings.failures.parted = parted;
  findings.failures.events.resize(2);
  findings.silence.overdue = overdue;
  return has_stopped(findings);
}

TEST_CASE("verdict: new lines end no job that leaves, nor one that saves and is not overdue") {
  CHECK(has_stopped_behind(Stage::training, false));
  for (const Stage stage : {Stage::checkpoint_save, Stage::evaluation}) {
    CHECK_FALSE(has_stopped_behind(stage, false));
    CHECK(has_stopped_behind(stage, true));
    CHECK_FALSE(has_stopped_behind(stage, false, true));
    CHECK(has_stopped_behind(stage, true, true));
  }
  for (const bool overdue : {false, true}) CHECK_FALSE(has_stopped_behind(Stage::exit, overdue));
}

TEST_CASE("verdict: a save as many before it is no long pause; nor do nodes part in one") {
  for (const Stage stage : {Stage::checkpoint_save, Stage::evaluation}) {
    CHECK(has_stopped_behind(stage, false, false, true));
    CHECK(has_stopped_behind(stage, false, true, true));
    CHECK(has_stopped_behind(stage, false, false, false, true));
  }
  CHECK_FALSE(has_stopped_behind(Stage::exit, false, false, true, true));
}

TEST_CASE("verdict: new lines of those that never iterate end no job that goes on") {
  for (const bool closed : {false, true})
    for (const bool led : {false, true})
      for (const Millis stalled : {Millis{1000}, Millis{60'000}}) {
        CAPTURE(closed);
        CAPTURE(led);
        CAPTURE(stalled.count());
        MadeJob job(2);
        job.iterate_all(1, 30);
        const job::JobView view = job.view();
        const job::JobClock clock = job::make_clock(view);
        const Hints hints;
        Findings findings{view, clock, hints};
        findings.failures.pooled = true;
        findings.failures.closed = closed;
        findings.failures.led = led;
        findings.failures.events.resize(2);
        findings.silence.stalled_for = stalled;
        const bool stood = stalled > Millis{1000};
        CHECK(has_stopped(findings) == ((closed && led) || (stood && (closed || led))));
      }
}

/// What closes the logs of the job are two new lines, which begin with `words`.
bool has_stopped_with(MadeJob& job, std::string_view words) {
  const job::JobView view = job.view();
  const job::JobClock clock = job::make_clock(view);
  const Hints hints;
  Findings findings{view, clock, hints};
  findings.failures.closed = findings.failures.led = true;
  for (std::uint32_t i = 0; i < view.events.size(); ++i) {
    if (!view.events[i].text.starts_with(words)) continue;
    findings.failures.events.emplace_back().event = i;
    findings.failures.events.back().occurrences = {0};
  }
  REQUIRE(findings.failures.events.size() == 2);
  return has_stopped(findings);
}

TEST_CASE("verdict: kind 'a little later': the others completed more than those with new lines") {
  for (int later = 0; later <= 5; ++later) {
    CAPTURE(later);
    MadeJob job(6);
    job.iterate_all(1, 30);
    job.say(0, {"the weights are looked at"}, 30'400);
    job.say(0, {"the weights are as they were"}, 30'500);
    for (int rank = 6 - later; rank < 6; ++rank) job.iterate(rank, 31, 31'000);
    CHECK(has_stopped_with(job, "the weights") == (later <= 3));
  }
}

TEST_CASE("verdict: kind 'left behind': new last lines of those that never iterate, long before") {
  for (const std::int64_t at : {20'000, 170'000, 200'500}) {
    CAPTURE(at);
    MadeJob job(4);
    for (std::int64_t k = 1; k <= 200; ++k) job.iterate(0, k, k * 1000);
    job.say(1, {"the lane was not found"}, at - 10'000);
    job.say(2, {"the lane is not used"}, at);
    CHECK(has_stopped_with(job, "the lane") == (at > 200'000));
  }
}

/// Rank 0 iterates; the processes of the others say a good end of something earlier, and `behind`
/// it some of them print lines that the healthy run does not.
State state_behind_good_end(bool behind, const char* good) {
  MadeJob healthy(4), job(4);
  for (MadeJob* made : {&healthy, &job})
    for (std::int64_t k = 1; k <= 40; ++k) made->iterate(0, k, k * 1000);
  for (MadeJob* made : {&healthy, &job})
    for (int rank = 1; rank < 4; ++rank) made->say(rank, {good}, 39'800);
  if (behind) {
    for (int rank = 1; rank < 4; ++rank) job.say(rank, {"lane parted from its ring"}, 41'000);
    job.say(2, {"board has gone dark"}, 40'900);
    job.say(0, {"lane parted from its ring"}, 41'200);
  }
  Options options;
  options.without = *detect::parse_parts("wording,library");
  options.as_of = job::test::after(41'500);
  return diagnose(job.state(), {&healthy.state()}, options).report.verdict.state;
}

TEST_CASE("verdict: without words a good end that failures follow is none") {
  for (const char* good : {"Process 31 exits successfully.", "worker 2 finished without error",
                           "State: COMPLETED (exit code 0)"}) {
    CAPTURE(good);
    CHECK(state_behind_good_end(false, good) == State::finished);
    const State state = state_behind_good_end(true, good);
    CHECK(state != State::finished);
    CHECK(state != State::healthy);
  }
}

}  // namespace
}  // namespace l4::diagnose
