// When a job has been silent for too long, and which rank fell silent first.
#include "aggregator/detect/hang/silence.h"

#include <doctest/doctest.h>

#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::hang {
namespace {

using job::test::after;
using job::test::MadeJob;

Silence find(MadeJob& made, std::int64_t as_of_ms) {
  const job::JobView view = made.view();
  return find_silence(view, job::make_clock(view), after(as_of_ms));
}

TEST_CASE("the deadline follows the job's own gaps between its bounds") {
  struct Row {
    double gap_ms;
    std::int64_t deadline_ms;
  };
  for (const Row& row : {Row{0, 60'000},         // nothing known: the floor
                         Row{10, 10'000},        // a quick job need not wait a minute
                         Row{1000, 30'000},      // thirty gaps
                         Row{5000, 60'000},      // the floor again
                         Row{100'000, 200'000},  // twice the largest pause seen
                         Row{3'600'000, 7'200'000}}) {
    job::JobClock clock;
    clock.gap_max_ms = row.gap_ms;
    clock.gap_median_ms = row.gap_ms;
    CHECK(deadline_of(clock, {}).count() == row.deadline_ms);
  }
}

TEST_CASE("a longer gap never makes the deadline shorter") {
  Millis before{0};
  for (double gap = 1; gap < 1e7; gap *= 1.3) {
    job::JobClock clock;
    clock.gap_max_ms = gap;
    const Millis deadline = deadline_of(clock, {});
    CHECK(deadline >= before);
    CHECK(deadline.count() >= static_cast<std::int64_t>(gap));
    before = deadline;
  }
}

TEST_CASE("overdue just past the deadline and not before") {
  MadeJob job(4);
  job.iterate_all(1, 60);
  const Silence now = find(job, 60'500);
  CHECK_FALSE(now.overdue);
  CHECK(now.last_activity == after(60'000));
  const auto limit = 60'000 + now.deadline.count();
  CHECK_FALSE(find(job, limit).overdue);
  CHECK(find(job, limit + 1).overdue);
  CHECK(find(job, limit + 1).stalled_for == now.deadline + Millis{1});
}

TEST_CASE("lines that keep coming without a pace of their own are not progress") {
  MadeJob job(2);
  job.iterate_all(1, 60);
  job.say(0, {"still waiting for bucket 3", Level::warning}, 600'000);
  const Silence silence = find(job, 601'000);
  CHECK(silence.stalled_for == Millis{541'000});
  CHECK(silence.overdue);
}

TEST_CASE("kind: logs that end right behind a pause do not show a hang") {
  const TimeMs from = after(100'000);
  for (const char* line : {"[GC] collected in 0.02 s", "synced 3 files", "epoch 2 begins"}) {
    CAPTURE(line);
    MadeJob one(2), many(2), loud(2), none(2);
    for (MadeJob* job : {&one, &many, &loud, &none}) job->iterate_all(1, 60);
    one.say(0, {line}, 7'200'000);
    for (int i = 0; i < 4; ++i) many.say(0, {line}, 7'200'000 + i * 10'000);
    loud.say(0, {line, Level::warning}, 7'200'000);
    CHECK(ends_behind_pause(one.view(), from));
    CHECK_FALSE(ends_behind_pause(many.view(), from));  // who reports all along while he waits
    CHECK_FALSE(ends_behind_pause(loud.view(), from));
    CHECK_FALSE(ends_behind_pause(none.view(), from));
  }
}

TEST_CASE("who saves a checkpoint or evaluates goes on; whatever else is said does not count") {
  for (const Stage stage : {Stage::checkpoint_save, Stage::evaluation, Stage::training}) {
    CAPTURE(static_cast<int>(stage));
    MadeJob job(2);
    for (std::int64_t k = 1; k <= 20; ++k)
      for (const int rank : {0, 1}) job.iterate(rank, k, k * 1000).stage = Stage::training;
    job.say(0, {"saving a checkpoint"}, 45'000).stage = stage;
    const bool goes_on = stage != Stage::training;
    CHECK(find(job, 60'000).stalled_for == Millis{goes_on ? 15'000 : 40'000});
    CHECK(find(job, 60'000).overdue == !goes_on);
    CHECK(find(job, 80'000).overdue);
  }
}

TEST_CASE("whoever stopped first stands first, and how far behind it is") {
  MadeJob job(4);
  job.iterate_all(1, 60);
  for (const int rank : {0, 1, 3}) job.iterate(rank, 61, 61'000 + rank);
  const Silence silence = find(job, 900'000);
  REQUIRE(silence.order.size() == 4);
  CHECK(silence.order[0].rank == 2);
  CHECK(silence.order[0].since == after(60'000));
  CHECK(silence.order[0].behind == 1);
  CHECK(silence.order[1].rank == 0);
  CHECK(silence.order[3].rank == 3);
  CHECK(silence.order[3].behind == 0);
}

TEST_CASE("launchers keep quiet and are not suspected for it") {
  MadeJob job(2);
  const SourceId id = job.add_source(0).id;
  job.say_on(0, id, {"starting workers"}, 0);
  job.iterate_all(1, 20);
  const Silence silence = find(job, 900'000);
  CHECK(silence.order.size() == 2);
}

TEST_CASE("ranks without any time come last") {
  MadeJob job(3);
  job.iterate(1, 1, 1000);
  job.iterate(0, 1, std::nullopt);
  job.iterate(2, 1, 500);
  const Silence silence = find(job, 2000);
  REQUIRE(silence.order.size() == 3);
  CHECK(silence.order[0].rank == 2);
  CHECK(silence.order[2].rank == 0);
  CHECK_FALSE(silence.order[2].since.has_value());
}

TEST_CASE("a look before the last line is no silence") {
  MadeJob job(2);
  job.iterate_all(1, 60);
  const Silence silence = find(job, 10'000);
  CHECK(silence.stalled_for == Millis{0});
  CHECK_FALSE(silence.overdue);
}

/// Lines of as many words are of one kind.
std::string words(int kind) {
  std::string text = "found";
  for (int i = 0; i < kind; ++i) text += " this";
  return text;
}

TEST_CASE("kind: a writer that prints many kinds of lines behind its last iteration is at work") {
  struct Row {
    int lines, kinds;
    bool works;
  };
  for (const Row& row : {Row{120, 12, true},     // an evaluation, a second program in the same file
                         Row{1000, 30, true},    // a counter that is not read any more
                         Row{1000, 3, false},    // a monitor that says the same every minute
                         Row{20, 12, false}}) {  // some last words
    CAPTURE(row.lines);
    CAPTURE(row.kinds);
    MadeJob job(1);
    job.iterate_all(1, 30);
    for (int i = 0; i < row.lines; ++i) job.say(0, {words(i % row.kinds)}, 40'000 + i * 1000);
    const job::JobView view = job.view();
    CHECK(goes_on(view, job::make_clock(view)) == row.works);
  }
}

TEST_CASE("kind: an excerpt with a few iterations tells no pace") {
  for (const int iterations : {2, 3, 7, 8}) {
    MadeJob job(1);
    job.iterate_all(1, iterations);
    job.say(0, {"collected garbage"}, 7'200'000);
    const job::JobView view = job.view();
    CHECK(goes_on(view, job::make_clock(view)) == (iterations < 8));
  }
}

TEST_CASE("kind: a writer that worked on behind its last iteration did so up to some line") {
  for (const bool works : {true, false}) {
    MadeJob job(1);
    job.iterate_all(1, 30);
    for (int i = 0; i < 150; ++i) job.say(0, {words(works ? i % 12 : 0)}, 40'000 + i * 1000);
    const job::JobView view = job.view();
    const std::uint64_t last = view.streams[0].state->last_line;
    CHECK(worked_until(view, 0, last) == works);
    CHECK_FALSE(worked_until(view, 0, last - 100));
    CHECK_FALSE(worked_until(view, 0, 1));
  }
}

}  // namespace
}  // namespace l4::detect::hang
