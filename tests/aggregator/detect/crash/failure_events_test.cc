// New events at the end show a failure; noise that was there before does not.
#include "aggregator/detect/crash/failure_events.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "aggregator/job/clock.h"
#include "tests/aggregator/detect/crash/made_hints.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::crash {
namespace {

using job::test::after;
using job::test::event_of;
using job::test::MadeJob;

struct Found {
  FailureEvents failures;
  std::vector<std::string> texts;  // texts of the found events, in their order
};

/// Finds events with hints from the wording alone; `pool` lists parts of texts that healthy runs
/// print.
Found find(MadeJob& made, const std::set<std::string>& pool = {}, bool excess = false) {
  const job::JobView view = made.view();
  const auto hints = test::make_hints(view, [&](const job::EventView& event, EventHint& hint) {
    test::note_wording(event, hint);
    for (const std::string& part : pool)
      hint.in_pool = hint.in_pool || event.text.find(part) != std::string::npos;
    hint.excess = hint.in_pool && excess;
  });
  Found found;
  found.failures = find_failure_events(view, job::make_clock(view), hints);
  for (const FailureEvent& failure : found.failures.events)
    found.texts.push_back(view.events[failure.event].text);
  return found;
}

const job::test::Say kOom{"OutOfMemoryError: CUDA out of memory", Level::error};
const job::test::Say kReset{"Connection reset by peer", Level::error};
const job::test::Say kPush{"push of metrics failed", Level::error};

TEST_CASE("a healthy job has none") {
  MadeJob job(4);
  job.iterate_all(1, 30);
  const Found found = find(job);
  CHECK(found.texts.empty());
  CHECK_FALSE(found.failures.fatal);
  CHECK_FALSE(found.failures.first_failure.has_value());
}

TEST_CASE("the first word comes first, consequences after it") {
  MadeJob job(4);
  job.iterate_all(1, 30);
  for (const int rank : {0, 1, 3}) job.say(rank, kReset, 32'000);
  job.say(2, kOom, 30'500);
  const Found found = find(job);
  CHECK(found.texts == std::vector<std::string>{kOom.text, kReset.text});
  CHECK(found.failures.fatal);
  CHECK(found.failures.first_failure == after(30'500));
  CHECK(found.failures.last_failure == after(32'000));
  CHECK(found.failures.events[1].occurrences.size() == 3);
}

TEST_CASE("an error that was there all along is noise, however loud") {
  MadeJob job(4);
  for (std::int64_t k = 1; k <= 30; ++k) {
    for (int rank = 0; rank < 4; ++rank) job.iterate(rank, k, k * 1000);
    job.say(static_cast<int>(k % 4), kPush, k * 1000 + 200);
  }
  CHECK(find(job).texts.empty());
  job.say(1, kPush, 30'500);
  job.say(1, kOom, 30'600);
  CHECK(find(job).texts == std::vector<std::string>{kOom.text});
}

TEST_CASE("kind 'earlier start': what the stream left far behind itself is of another attempt") {
  for (const int lines : {10, 600}) {
    CAPTURE(lines);
    MadeJob job(2);
    job.iterate(1, 1, 1'000);
    job.say(1, kOom);  // without a time
    for (int i = 0; i < lines; ++i)
      job.say(1, {"step " + std::string(static_cast<std::size_t>(1 + i % 20), 'x')},
              2'000 + i * 50);
    for (std::int64_t k = 1; k <= 60; ++k) job.iterate(0, k, k * 1000);
    CHECK(find(job).texts.empty() == (lines > 256));
  }
}

TEST_CASE("an error long before the end belongs to something else") {
  MadeJob job(4);
  for (std::int64_t k = 1; k <= 60; ++k) {
    for (int rank = 0; rank < 4; ++rank) job.iterate(rank, k, k * 1000);
    if (k == 20) job.say(1, kOom, 20'100);
  }
  CHECK(find(job).texts.empty());
}

TEST_CASE("what healthy runs say is dropped unless there is far more of it") {
  MadeJob job(4);
  job.iterate_all(1, 30);
  job.say(1, kPush, 30'400);
  job.say(2, kOom, 30'500);
  CHECK(find(job, {"push"}).texts == std::vector<std::string>{kOom.text});
  CHECK(find(job, {"push"}, true).texts == std::vector<std::string>{kPush.text, kOom.text});
}

TEST_CASE("quiet news counts only from the failure on") {
  MadeJob job(4);
  job.iterate_all(1, 30);
  job.say(0, {"waiting for the others"}, 30'300);
  job.say(2, kOom, 30'500);
  for (const int rank : {0, 3}) job.say(rank, {"dumping the flight recorder"}, 31'000);
  CHECK(find(job).texts == std::vector<std::string>{kOom.text, "dumping the flight recorder"});
}

TEST_CASE("before the first iteration everything that sounds bad counts") {
  MadeJob job(3);
  for (int rank = 0; rank < 3; ++rank) job.say(rank, {"building the model"}, 0);
  job.say(1, {"ModuleNotFoundError: No module named 'apex'", Level::error}, 4000);
  const Found found = find(job);
  REQUIRE(found.texts.size() == 1);
  CHECK(found.failures.fatal);
  CHECK(found.failures.first_failure == after(4000));
}

TEST_CASE("kind: a traceback long before a good end, in a job that prints no iterations") {
  for (const char* end :
       {"Training took 3:10:22", "The job ended successfully", "Final model saved to out/final"})
    for (const int lines : {10, 400}) {
      CAPTURE(end);
      MadeJob job(1);
      job.say(0, {"ModuleNotFoundError: No module named 'apex'", Level::error});
      for (int i = 0; i < lines; ++i) job.say(0, {"seen so far " + std::to_string(i)});
      job.say(0, {end});
      CHECK(find(job).failures.fatal == (lines == 10));
      job.say(0, {"RuntimeError: cannot write the card", Level::error});
      CHECK(find(job).failures.fatal);
    }
}

TEST_CASE("kind: an exception behind which a job without iterations works on for long") {
  const std::vector<std::string> work{"builds a layer", "reads a shard",  "moves a block",
                                      "joins a ring",   "warms a cache",  "plans a bucket",
                                      "opens a file",   "checks a shape", "names a group"};
  for (const char* text : {"AttributeError: no fused kernel here", "ImportError: optional part",
                           "KeyError: 'no such preset'"})
    for (const int lines : {40, 400}) {
      CAPTURE(text);
      CAPTURE(lines);
      MadeJob job(1);
      const auto fails = [&] {
        const job::JobView view = job.view();
        const auto hints = test::make_hints(view, [](const job::EventView& event, EventHint& hint) {
          test::note_wording(event, hint);
          hint.ordinary = hint.severity == Severity::fatal;
        });
        return find_failure_events(view, job::make_clock(view), hints).fatal;
      };
      for (int i = 0; i < 3; ++i) job.say(0, {text, Level::error}, i);
      for (int i = 0; i < lines; ++i)
        job.say(0, {work[static_cast<std::size_t>(i) % work.size()]}, 1000 + i);
      CHECK(fails() == (lines == 40));
      job.say(0, {"RuntimeError: no room for the model", Level::error}, 5000);
      CHECK(fails());
    }
}

TEST_CASE("kind: what is known as a warning is fatal only as the last word") {
  for (const char* text : {"ModuleNotFoundError: No module named 'fast_norm'",
                           "ImportError: the fused kernel is missing", "OSError: no cache folder"})
    for (const bool last : {true, false}) {
      CAPTURE(text);
      CAPTURE(last);
      MadeJob job(1);
      job.say(0, {"imports what is optional"}, 0);
      job.say(0, {text, Level::unknown}, 1000);
      if (!last) job.say(0, {"builds the model without it"}, 1001);
      const job::JobView view = job.view();
      const auto hints = test::make_hints(view, [&](const job::EventView& event, EventHint& hint) {
        test::note_wording(event, hint);
        hint.known_fault = hint.mild = event.text == text;
      });
      CHECK(find_failure_events(view, job::make_clock(view), hints).fatal == last);
    }
}

/// Three ranks write into one file; rank 2 prints no iterations, and a traceback without a time,
/// perhaps behind a line with one.
MadeJob one_file(std::int64_t iterations, bool stamped) {
  MadeJob job(1, 3);
  for (int rank = 0; rank < 3; ++rank) job.source_of(rank).path = "all.log";
  if (stamped) job.say(2, {"imports what is optional"}, iterations * 1000 - 700);
  job.say(2, {"ConnectionRefusedError: push of metrics", Level::error});
  for (std::int64_t k = 1; k <= iterations; ++k)
    for (const int rank : {0, 1}) job.iterate(rank, k, k * 1000);
  return job;
}

TEST_CASE("kind: an error that nobody signs, while the others of its file went on for long") {
  for (const bool stamped : {false, true}) {
    MadeJob long_after = one_file(100, stamped), soon_after = one_file(20, stamped);
    CHECK(find(long_after).texts.empty());
    CHECK(find(soon_after).texts.size() == 1);
  }
}

TEST_CASE("kind: an error that recurs all along in a job that prints no iterations") {
  const auto job_that_repeats = [](const job::test::Say& what) {
    MadeJob job(1);
    for (std::int64_t k = 1; k <= 30; ++k) {
      for (int i = 0; i < 5; ++i) job.say(0, {"sample " + std::to_string(i)}, k * 1000 + i);
      job.say(0, what, k * 1000 + 100);
    }
    return job;
  };
  MadeJob template_missing = job_that_repeats({"Error applying the template", Level::error});
  MadeJob oom = job_that_repeats(kOom);
  CHECK(find(template_missing).texts.empty());
  CHECK(find(oom).texts.size() == 1);
}

TEST_CASE("kind: exceptions that a program catches again and again, known ones too") {
  for (const bool ordinary : {true, false})
    for (const int times : {3, 12}) {
      MadeJob job(2);
      for (std::int64_t k = 1; k <= 30; ++k) {
        for (int rank = 0; rank < 2; ++rank) job.iterate(rank, k, k * 1000);
        if (k <= times) job.say(1, {"TypeError: no answer", Level::error}, k * 1000 + 100);
      }
      job.say(0, {"TypeError: no answer", Level::error}, 30'500);
      const job::JobView view = job.view();
      std::vector<EventHint> hints(view.events.size());
      EventHint& hint = hints[event_of(view, "TypeError")];
      hint.severity = Severity::fatal;
      hint.known_fault = true;
      hint.ordinary = ordinary;
      const auto found = find_failure_events(view, job::make_clock(view), hints).events;
      CHECK(found.empty() == (ordinary && times == 12));
    }
}

TEST_CASE("kind: exceptions that a program catches again and again, each with a text of its own") {
  struct Row {
    const char* before;
    const char* last;
    bool excused;
  };
  for (const Row& row : {
           Row{"ValueError: could not parse answer: I think that", "ValueError: no such answer",
               false},
           Row{"ValueError: could not parse: I think that",
               "ValueError: could not parse: Wait, the", true},
           Row{"worker: json.decoder.JSONDecodeError: Expecting value: line",
               "worker: json.decoder.JSONDecodeError: Expecting value: column", true},
           Row{"[reward] TimeoutError: judge did not answer for item",
               "[reward] TimeoutError: judge did not ask", true},
           Row{"KeyError: sample one", "Traceback (most recent call last):", true},
           Row{"KeyError: sample one", "MemoryError: sample one", false},
       }) {
    CAPTURE(row.last);
    for (const int times : {3, 12}) {
      MadeJob job(2);
      for (std::int64_t k = 1; k <= 30; ++k) {
        for (int rank = 0; rank < 2; ++rank) job.iterate(rank, k, k * 1000);
        if (k <= times)
          job.say(1, {row.before + std::string(1, static_cast<char>('a' + k)), Level::error},
                  k * 1000 + 100);
      }
      job.say(0, {row.last, Level::error}, 30'500);
      const job::JobView view = job.view();
      std::vector<EventHint> hints;
      for (const job::EventView& event : view.events) {
        EventHint hint;
        hint.severity = severity_of(event.text, event.level);
        hint.ordinary = true;
        hints.push_back(hint);
      }
      const auto found = find_failure_events(view, job::make_clock(view), hints).events;
      CHECK(found.empty() == (row.excused && times == 12));
    }
  }
}

TEST_CASE("kind: an untimed error behind which its own rank completed an iteration is survived") {
  for (const char* text : {"ConnectionRefusedError: no gateway", "TimeoutError: slow proxy"})
    for (const bool goes_on : {true, false}) {
      CAPTURE(text);
      MadeJob job(4);
      for (std::int64_t k = 1; k <= 30; ++k)
        for (int rank = 0; rank < 4; ++rank) {
          if (k == 30 && (rank == 0 || goes_on)) {
            wire::Segment& error = job.say(rank, {text, Level::error}, 29'000);
            error.events[0].first_time.reset();  // of its last stamp
          }
          if (k < 30 || rank == 0) job.iterate(rank, k, k * 1000);
        }
      if (goes_on) job.iterate(1, 30, 30'000);
      CHECK(find(job).texts.empty());
      job.say(2, {std::string(text).substr(0, 20), Level::error}, 30'000);  // copied as it grew
      CHECK(find(job).texts.empty());
      job.say(2, {"RuntimeError: shapes differ", Level::error}, 30'000);
      CHECK_FALSE(find(job).texts.empty());
    }
}

TEST_CASE("last words without a time still count") {
  MadeJob job(4);
  job.iterate_all(1, 30);
  job.say(2, kOom);
  const Found found = find(job);
  CHECK(found.texts == std::vector<std::string>{kOom.text});
  CHECK(found.failures.fatal);
}

TEST_CASE("what a node says last is after its own progress, however late its clock") {
  MadeJob job(4);
  for (std::int64_t k = 1; k <= 30; ++k)
    for (int rank = 0; rank < 3; ++rank) job.iterate(rank, k, k * 1000 + (rank == 1 ? 0 : 6000));
  // Rank 3 is on the node of rank 1 and prints no iteration.
  job.source_of(3).node = job.source_of(1).node;
  job.say(3, kOom, 30'500);
  job.say(0, kReset, 37'000);
  CHECK(find(job).texts == std::vector<std::string>{kOom.text, kReset.text});
}

/// Ranks 0 to 2 fail. Rank 0 prints no iterations; its line has no stamp and stands between two
/// lines that have one.
MadeJob fails_between_stamps(bool early_stamp) {
  MadeJob job(3);
  job.say(0, {"loading shard"}, 4'100);
  wire::Segment& unstamped = job.say(0, kOom, early_stamp ? std::optional(4'100) : std::nullopt);
  unstamped.begin = after(4'100);
  unstamped.end = after(40'500);
  for (std::int64_t k = 1; k <= 40; ++k)
    for (const int rank : {1, 2}) job.iterate(rank, k, k * 1000);
  for (const int rank : {1, 2}) job.say(rank, kOom, 40'400);
  job.say(0, kReset, 40'600);
  return job;
}

TEST_CASE("a rank goes by its own clock, but not by progress that it stopped printing") {
  constexpr std::int64_t kHour = 3'600'000;
  for (const bool behind : {false, true}) {  // otherwise the clock of rank 2 is an hour late
    CAPTURE(behind);
    MadeJob job(4);
    const std::int64_t skew = behind ? 0 : kHour;
    for (std::int64_t k = 1; k <= 60; ++k)
      for (int rank = 0; rank < 4; ++rank)
        if (rank != 2 || !behind || k <= 2) job.iterate(rank, k, k * 1000 - (rank == 2 ? skew : 0));
    job.say(2, kPush, (behind ? 3000 : 60'500) - skew);
    CHECK(find(job).texts.size() == (behind ? 0 : 1));
  }
}

TEST_CASE("a line between two stamps is no proof that it was said early") {
  MadeJob job = fails_between_stamps(false);
  const Found found = find(job);
  REQUIRE_FALSE(found.texts.empty());
  CHECK(found.texts.front() == kOom.text);
  CHECK(found.failures.events.front().occurrences.size() == 3);
  CHECK(found.failures.first_failure >= after(40'000));
  MadeJob stamped = fails_between_stamps(true);
  CHECK(find(stamped).texts == std::vector<std::string>{kReset.text});
}

TEST_CASE(
    "kind: an untimed error behind the last iteration of its file, by another speaker of it") {
  for (const char* text : {"AssertionError", "KeyError: 'image'", "OSError: the disk is full"})
    for (const bool behind : {true, false}) {
      CAPTURE(text);
      MadeJob job(1, 2);
      job.source_of(0).path = job.source_of(1).path = "all.log";
      job.say(1, {"ready"}, 100);
      for (int k = 1; k <= 30; ++k) {
        wire::Segment& step = job.iterate(0, k, k * 1000);
        step.lines = {static_cast<std::uint64_t>(k) + 10, static_cast<std::uint64_t>(k) + 10};
      }
      wire::Segment& error = job.say(1, {text, Level::error}, 100);  // of its last stamp
      error.events[0].first_time.reset();
      error.lines = {behind ? 41u : 2u, behind ? 41u : 2u};
      error.events[0].first_line = error.lines.first;
      CHECK((find(job).texts == std::vector<std::string>{text}) == behind);
    }
}

/// Moves the line of a segment to another place in its file.
void put(wire::Segment& segment, std::uint64_t line) {
  segment.lines = {line, line};
  segment.events[0].first_line = line;
  if (segment.timed_last_line > 0) segment.timed_last_line = line;
}

const job::test::Say kChildOfGap{"Sending the others a signal", Level::warning};

TEST_CASE("kind: an untimed last word between an old stamp and those of the end is no old one") {
  for (const std::uint64_t line : {std::uint64_t{480}, std::uint64_t{10}}) {
    CAPTURE(line);
    MadeJob job(3);
    put(job.say(0, {"saved a checkpoint"}, 4'100), 9);
    for (std::int64_t k = 1; k <= 40; ++k)
      for (const int rank : {1, 2}) job.iterate(rank, k, k * 1000);
    wire::Segment& error = job.say(0, kOom, 4'100);  // of its last stamp
    error.events[0].first_time.reset();
    put(error, line);
    put(job.say(0, kChildOfGap, 42'000), 482);
    const Found found = find(job);
    CHECK(std::ranges::count(found.texts, kOom.text) == (line == 480 ? 1 : 0));
  }
}

TEST_CASE("kind: an untimed last word needs no ugly words where healthy runs tell what is usual") {
  const job::test::Say plain{"the ring of the group is open"};
  MadeJob job(3);
  put(job.say(0, {"saved a checkpoint"}, 4'100), 9);
  for (std::int64_t k = 1; k <= 40; ++k)
    for (const int rank : {1, 2}) job.iterate(rank, k, k * 1000);
  wire::Segment& last = job.say(0, plain, 4'100);  // of its last stamp
  last.events[0].first_time.reset();
  put(last, 480);
  put(job.say(0, kChildOfGap, 42'000), 482);
  const job::JobView view = job.view();
  const auto hints = test::make_hints(view, [](const job::EventView& event, EventHint& hint) {
    hint.in_pool = event.text == "saved a checkpoint";
  });
  for (const bool wording : {true, false}) {
    const auto found = find_failure_events(view, job::make_clock(view), hints, {true, wording});
    const bool has = std::ranges::any_of(found.events, [&](const FailureEvent& event) {
      return view.events[event.event].text == plain.text;
    });
    CHECK(has == !wording);
  }
}

const job::test::Say kChild{"ChildFailedError: a worker failed", Level::error};

TEST_CASE("a line without a time stands beside the lines of the failure in its file") {
  MadeJob job(2);
  job.iterate_all(1, 30);
  // The launcher writes into the file of rank 0, with times.
  wire::SourceDefinition& launcher = job.add_source(0);
  launcher.kind = wire::SourceKind::launcher;
  launcher.path = job.source_of(0).path;
  const SourceId id = launcher.id;
  put(job.say(0, kOom), 498);
  put(job.say_on(0, id, kChild, 40'000), 500);
  job.say(1, kReset, 39'500);
  CHECK(find(job).texts == std::vector<std::string>{kReset.text, kOom.text, kChild.text});
}

TEST_CASE("a stamp long before a line does not make the line the first sign") {
  for (const std::uint64_t line : {std::uint64_t{480}, std::uint64_t{3}}) {
    CAPTURE(line);
    MadeJob job(2);
    put(job.say(0, {"loading shards"}, 4'100), 1);
    put(job.say(0, kOom), line);
    put(job.say(0, kChild, 90'000), line + 2);
    job.say(1, kReset, 60'000);
    CHECK(find(job).texts == std::vector<std::string>{kReset.text, kOom.text, kChild.text});
  }
  // Without a line of the failure near it, the stamp before it is all that is known.
  MadeJob job(2);
  put(job.say(0, {"loading shards"}, 4'100), 1);
  put(job.say(0, kOom), 480);
  put(job.say(0, kChild, 90'000), 9'000);
  job.say(1, kReset, 60'000);
  CHECK(find(job).texts == std::vector<std::string>{kOom.text, kReset.text, kChild.text});
}

TEST_CASE("without any times, the rank that stopped at an earlier iteration comes first") {
  MadeJob job(2);
  for (std::int64_t k = 1; k <= 12; ++k)
    for (const int rank : {0, 1})
      if (rank == 0 || k <= 10) job.iterate(rank, k, std::nullopt);
  job.say(0, kReset);
  job.say(1, kOom);
  CHECK(find(job).texts == std::vector<std::string>{kOom.text, kReset.text});
}

TEST_CASE("lines that mark iterations or an end are no failure") {
  MadeJob job(2);
  job.iterate_all(1, 30);
  job.say(0, {"worker failed over and finished", Level::error, wire::kMarkFinished}, 30'500);
  CHECK(find(job).texts.empty());
}

}  // namespace
}  // namespace l4::detect::crash
