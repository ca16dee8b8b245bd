// A line that says what happened comes before lines that say only that something did.
#include "aggregator/detect/crash/precedence.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/detect/crash/failure_events.h"
#include "aggregator/job/clock.h"
#include "tests/aggregator/detect/crash/made_hints.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::crash {
namespace {

using job::test::MadeJob;

const job::test::Say kSignal{"task 3 was ended by signal 9", Level::error};
const job::test::Say kLimit{"the step went over its memory limit", Level::error};
const job::test::Say kUnknown{"ValueError: the shapes differ", Level::error};

/// Texts of events that follow a more precise one. "signal" is general, "limit" is known.
std::vector<std::string> followers(MadeJob& made) {
  const job::JobView view = made.view();
  const auto hints = test::make_hints(view, [](const job::EventView& event, EventHint& hint) {
    test::note_wording(event, hint);
    hint.general = event.text.contains("signal");
    hint.known_fault = hint.general || event.text.contains("limit");
    hint.stop = event.text.ends_with("was cancelled");
    hint.dying = event.text.starts_with("terminate called");
  });
  std::vector<std::string> texts;
  for (const FailureEvent& event : find_failure_events(view, job::make_clock(view), hints).events)
    if (event.follows) texts.push_back(view.events[event.event].text);
  return texts;
}

MadeJob trained() {
  MadeJob job(3);
  job.iterate_all(1, 30);
  return job;
}

TEST_CASE("a signal alone is the best that is known") {
  MadeJob job = trained();
  job.say(1, kSignal, 30'500);
  CHECK(followers(job).empty());
}

TEST_CASE("kind: a memory limit is told after the signal that it sent, on another node") {
  MadeJob job = trained();
  job.say(1, kSignal, 30'500);
  job.say(2, kLimit, 40'000);
  CHECK(followers(job) == std::vector<std::string>{kSignal.text});
}

TEST_CASE("kind 'message below': the name of an exception alone leads to the lines below it") {
  for (const char* head : {"MemoryError:", "paddle.Refused:Error:", "KeyError:"}) {
    CAPTURE(head);
    MadeJob job = trained();
    job.say(1, {head, Level::error}, 30'500);
    CHECK(followers(job).empty());
    job.say(1, kUnknown, 30'500);
    const bool named = std::string_view(head) != "paddle.Refused:Error:";
    CHECK(followers(job).empty() != named);
  }
  MadeJob job = trained();
  job.say(1, {"KeyError: 'a sample':", Level::error}, 30'500);
  job.say(1, kUnknown, 30'500);
  CHECK(followers(job).empty());
}

TEST_CASE("kind 'launcher cancels': the stop behind the exit of a task is the launcher's") {
  const job::test::Say stop{"the step was cancelled", Level::error};
  for (const char* exit :
       {"srun: error: n1: task 0: Exited with exit code 1", "worker 3 exited with exit code 137",
        "task 0: Exited with exit code 0"}) {
    CAPTURE(exit);
    MadeJob before = trained(), behind = trained();
    before.say(1, {exit, Level::error}, 30'500);
    before.say(1, stop, 30'600);
    behind.say(1, stop, 30'500);
    behind.say(1, {exit, Level::error}, 30'600);
    const bool failed = !std::string_view(exit).ends_with(" 0");
    const auto follows = [&](MadeJob& job) {
      return std::ranges::count(followers(job), stop.text) == 1;
    };
    CHECK(follows(before) == failed);
    CHECK_FALSE(follows(behind));
  }
}

TEST_CASE("a fault of another time explains nothing") {
  MadeJob job = trained();
  job.say(1, kSignal, 30'500);
  job.say(2, kLimit, 130'000);
  CHECK(followers(job).empty());
}

TEST_CASE("a line that no entry knows explains only what comes after it") {
  MadeJob before = trained(), behind = trained();
  before.say(0, kUnknown, 30'400);
  before.say(1, kSignal, 33'000);
  behind.say(1, kSignal, 30'500);
  behind.say(0, kUnknown, 33'000);
  CHECK(followers(before) == std::vector<std::string>{kSignal.text});
  CHECK(followers(behind).empty());
}

TEST_CASE("kind: a wrapper leads over nothing that begins on its next line") {
  for (const char* text : {"ValueError: the shapes differ",
                           "torch.OutOfMemoryError: no memory left", "KeyError: 'step'"}) {
    CAPTURE(text);
    MadeJob job = trained(), apart = trained();
    job.say(1, kSignal, 30'500);
    job.say(1, {text, Level::error}, 30'500);
    apart.say(1, kSignal, 30'500);
    apart.say(1, {"an ordinary line"}, 30'500);
    apart.say(1, {text, Level::error}, 30'500);
    CHECK(followers(job) == std::vector<std::string>{kSignal.text});
    CHECK(followers(apart).empty());
  }
}

TEST_CASE("kind: what the runtime throws behind an exception that left the program follows it") {
  for (const char* text :
       {"terminate called after throwing an instance of 'c10::Error'",
        "terminate called without an active exception", "terminate called recursively"}) {
    CAPTURE(text);
    MadeJob behind = trained(), before = trained(), elsewhere = trained();
    behind.say(1, kUnknown, 30'500);
    behind.say(1, {text, Level::error}, 30'600);
    before.say(1, {text, Level::error}, 30'500);
    before.say(1, kUnknown, 30'600);
    elsewhere.say(0, kUnknown, 30'500);
    elsewhere.say(1, {text, Level::error}, 30'600);
    CHECK(followers(behind) == std::vector<std::string>{text});
    CHECK(followers(before).empty());
    CHECK(followers(elsewhere).empty());
  }
}

TEST_CASE("without times the lines of one file are near each other, up to some distance") {
  MadeJob near = trained(), far = trained();
  near.say(1, kUnknown);
  near.say(1, kSignal);
  far.say(1, kUnknown);
  for (int i = 0; i < 300; ++i) far.say(1, {"a stack of another process", Level::info});
  far.say(1, kSignal);
  CHECK(followers(near) == std::vector<std::string>{kSignal.text});
  CHECK(followers(far).empty());
}

}  // namespace
}  // namespace l4::detect::crash
