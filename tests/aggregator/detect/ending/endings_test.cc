// How the logs of a made job end.
#include "aggregator/detect/ending/endings.h"

#include <doctest/doctest.h>

#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::ending {
namespace {

using job::test::MadeJob;

Endings find(MadeJob& made) {
  const job::JobView view = made.view();
  return find_endings(view, job::make_clock(view));
}

MadeJob trained() {
  MadeJob job(2);
  job.iterate_all(1, 20);
  return job;
}

TEST_CASE("endings: only lines behind the last progress count") {
  const char* leaked = "There appear to be 8 leaked semaphore objects to clean up at shutdown";
  MadeJob during = trained(), behind = trained();
  during.say(0, {leaked, Level::warning}, 20'100);
  during.iterate(0, 21, 21'000);
  behind.say(0, {leaked, Level::warning}, 20'100);
  CHECK_FALSE(find(during).gone);
  CHECK(find(during).signs.empty());
  CHECK(find(behind).gone);
  REQUIRE(find(behind).signs.size() == 1);
  CHECK(find(behind).signs[0].severity == Severity::failure);
  CHECK(find(behind).ended());
}

TEST_CASE("endings: what is said long before the last line is no end") {
  for (const int more : {10, 200}) {
    CAPTURE(more);
    MadeJob job = trained();
    job.say(0, {"The job finished successfully"}, 20'100);
    for (int i = 0; i < more; ++i) job.say(0, {"a line"}, 20'200 + i);
    CHECK(find(job).well == (more == 10));
  }
}

TEST_CASE("endings: kind 'report first': a report that stands before the output tells of its end") {
  for (const char* word : {"Successfully completed.", "Exited with exit code 1."}) {
    CAPTURE(word);
    for (const bool report : {true, false}) {
      MadeJob job(1);
      job.say(0, {word}, 0).lines.last += 60;  // shipped together with what stands behind it
      for (int i = 0; i < 20; ++i) job.say(0, {"Resource usage summary"}, 0);
      if (report) job.say(0, {"The output (if any) follows:"}, 0);
      job.iterate_all(1, 900);
      const Endings found = find(job);
      CHECK((found.well || found.badly) == report);
    }
  }
}

TEST_CASE("endings: kind 'report first': what an earlier job's report says is of that") {
  MadeJob job(1);
  job.say(0, {"Successfully completed."}, 0);
  job.say(0, {"The output (if any) follows:"}, 0);
  for (int i = 0; i < 100; ++i) job.say(0, {"a line"}, 0);
  job.say(0, {"The output (if any) follows:"}, 0);
  job.iterate_all(1, 900);
  CHECK_FALSE(find(job).well);
}

TEST_CASE("endings: a launcher's line counts by its time") {
  for (const std::int64_t ms : {5'000, 20'500}) {
    CAPTURE(ms);
    MadeJob job = trained();
    const auto launcher = job.add_source(0);
    job.say_on(0, launcher.id, {"worker group exited with exit code 0"}, ms);
    CHECK(find(job).well == (ms == 20'500));
  }
}

TEST_CASE("endings: a program that closes what it used has ended, and nobody else says so") {
  MadeJob job = trained();
  job.say(0, {"WARNING: destroy_process_group() was not called before program exit"}, 20'100);
  CHECK(find(job).tidied);
  CHECK(find(job).ended());
  CHECK_FALSE(find(job).is_told());
  job.say(1, {"Connection to node-3 closed."}, 20'200);
  CHECK(find(job).is_told());
}

TEST_CASE("endings: the counters have come to their totals, or one has not") {
  struct Row {
    wire::Reach first, second;
    bool complete, short_of;
  };
  for (const Row& row : {Row{wire::Reach::total, wire::Reach::total, true, false},
                         Row{wire::Reach::total, wire::Reach::unknown, true, false},
                         Row{wire::Reach::total, wire::Reach::before, false, true},
                         Row{wire::Reach::before, wire::Reach::unknown, false, true},
                         Row{wire::Reach::unknown, wire::Reach::unknown, false, false}}) {
    MadeJob job = trained();
    job.iterate(0, 21, 21'000).reach = row.first;
    job.iterate(1, 21, 21'000).reach = row.second;
    CHECK(find(job).complete == row.complete);
    CHECK(find(job).short_of == row.short_of);
  }
}

TEST_CASE("endings: a run that another one follows in its file has ended") {
  MadeJob job = trained();
  CHECK_FALSE(find(job).followed);
  wire::SourceDefinition& next = job.add_source(0);
  const wire::SourceDefinition& first = job.source_of(0);
  next.path = first.path;
  next.kind = first.kind;
  next.rank = first.rank;
  next.rank_source = first.rank_source;
  next.run = 1;
  job.say_on(0, next.id, {"starting again"}, 60'000);
  const job::JobView earlier = job.view(0);
  CHECK(find_endings(earlier, job::make_clock(earlier)).followed);
  const job::JobView later = job.view(1);
  CHECK_FALSE(find_endings(later, job::make_clock(later)).followed);
}

}  // namespace
}  // namespace l4::detect::ending
