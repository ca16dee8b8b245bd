// The state that a source's segments leave, seen through the view and the clock.
#include "aggregator/job/stream.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "aggregator/detect/stage/stages.h"
#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::job {
namespace {

using test::after;
using test::event_of;
using test::MadeJob;

TEST_CASE("counts and first occurrences of an event") {
  MadeJob job(1);
  job.iterate(0, 1, 1000);
  job.say(0, {"tick tock"}, 1500);
  job.iterate(0, 2, 2000);
  job.say(0, {"tick tock"}, 2500).events[0].count = 9;
  const JobView view = job.view();
  const EventView& event = view.events[event_of(view, "tick")];
  CHECK(event.count == 10);
  REQUIRE(event.at.size() == 1);
  CHECK(event.at[0].stats.count == 10);
  CHECK(event.at[0].stats.first_line == 2);
  CHECK(event.at[0].time == after(1500));
  CHECK(event.at[0].stats.first_iteration == Iteration{1});
  CHECK(view.lines == 12);
}

TEST_CASE("the newest of an event is at its segment's end if that ends with it") {
  for (const bool is_last : {true, false}) {
    CAPTURE(is_last);
    MadeJob job(1);
    wire::Segment& segment = job.say(0, {"tick tock"}, 1000);
    const LocalTemplateId tick = segment.events[0].id;
    segment.events[0].count = 9;
    segment.end = after(9000);
    segment.order = {{tick, 9}};
    if (!is_last) segment.order.push_back({LocalTemplateId{4711}, 1});
    const JobView view = job.view();
    const auto newest = view.events[event_of(view, "tick")].at[0].stats.last_time;
    CHECK(*newest == after(is_last ? 9000 : 1000));
  }
}

TEST_CASE("segments that come late do not move the first occurrence forward") {
  MadeJob job(1);
  job.say(0, {"tick tock"}, 1000);
  job.say(0, {"tick tock"}, 2000);
  wire::Batch batch = job.batches().front();
  std::swap(batch.segments[0], batch.segments[1]);
  TemplateTable templates;
  JobState state("made", 0, templates);
  CHECK(state.apply(batch).has_value());
  const JobView view = make_view(state, 0, false);
  CHECK(view.events[0].at[0].stats.first_line == 1);
  CHECK(view.events[0].at[0].time == after(1000));
}

TEST_CASE("what comes after an iteration was completed does not put its end off") {
  MadeJob job(1);
  for (const std::int64_t k : {1, 2, 3}) job.iterate(0, k, k * 1000);
  job.iterate(0, 2, 4000);  // numbers that jump
  wire::Segment& tail = job.say(0, {"Killing subprocess"}, 60'000);
  tail.iteration = Iteration{3};  // the number that the agent expects next
  const JobView view = job.view();
  const JobClock clock = make_clock(view);
  CHECK(clock.completed_by_any == Iteration{3});
  REQUIRE(clock.last_progress);
  CHECK(*clock.last_progress < after(10'000));
}

TEST_CASE("an iteration that was begun and not completed is started only") {
  MadeJob job(1);
  job.iterate(0, 7, 1000);
  wire::Segment& open = job.say(0, {"forward pass begins"}, 1500);
  open.iteration = Iteration{8};
  open.boundary = wire::Boundary::none;
  const JobView view = job.view();
  CHECK(view.ranks[0].completed == Iteration{7});
  CHECK(view.ranks[0].started == Iteration{8});
  CHECK(make_clock(view).first_incomplete == Iteration{8});
}

TEST_CASE("kind: a bar at 0 that is drawn again behind what failed is not its survivor") {
  for (const bool drawn_before : {true, false}) {
    MadeJob job(1);
    job.say(0, {"reads the shards"}, 1000);
    if (drawn_before) job.iterate(0, 0, 2000);
    wire::Segment& segment = job.say(0, {"KeyError: 'labels'"}, 9000);
    const std::uint64_t line = segment.events[0].first_line;
    segment.lines.first = line - 1;  // a frame of its traceback
    segment.lines.last = line + 40;
    segment.iteration = Iteration{0};
    segment.boundary = wire::Boundary::completed;
    const JobView view = job.view();
    CHECK(view.streams[0].state->last_completed == Iteration{0});
    CHECK(view.streams[0].state->last_completed_line < line);
  }
}

TEST_CASE("an iteration that is repeated after a restart does not turn the job back") {
  MadeJob job(1);
  for (const std::int64_t k : {8, 9, 10, 9, 10, 11}) job.iterate(0, k, 1000 * k);
  const JobView view = job.view();
  CHECK(view.ranks[0].completed == Iteration{11});
  CHECK(make_clock(view).completed_by_any == Iteration{11});
}

TEST_CASE("parameters are counted by tuple, and their number is bounded") {
  MadeJob job(1);
  const auto say = [&](int rank) {
    wire::Segment& segment = job.say(0, {"lost rank <*>", Level::error}, 0);
    segment.parameters = {
        {segment.events[0].id, 1, {{wire::ParameterKind::rank, std::to_string(rank)}}}};
  };
  for (int i = 0; i < 30; ++i) say(i % 3);
  const auto seen = [&] {
    const JobView view = job.view();
    return view.events[0].parameters;
  };
  auto parameters = seen();
  REQUIRE(parameters.size() == 3);
  for (const ParameterSeen& one : parameters) CHECK(one.count == 10);
  for (int i = 0; i < 1000; ++i) say(i);
  CHECK(seen().size() == Stream::kTuplesMax);
}

TEST_CASE("old iterations make way for new ones") {
  MadeJob job(1);
  const auto many = static_cast<std::int64_t>(Stream::kIterationsMax) + 500;
  for (std::int64_t k = 1; k <= many; ++k) job.iterate(0, k, k);
  const JobView view = job.view();
  const JobClock clock = make_clock(view);
  CHECK(clock.ticks.size() == Stream::kIterationsMax);
  CHECK(clock.ticks.front().iteration == Iteration{501});
  CHECK(clock.completed_by_any == Iteration{many});
  CHECK(view.events[0].count == static_cast<std::uint64_t>(many));
}

TEST_CASE("stages that alternate for long are bounded, and each is known from first to last") {
  constexpr int kChanges = 5'000;
  constexpr Stage kStages[] = {Stage::training, Stage::evaluation, Stage::checkpoint_save};
  MadeJob job(1);
  job.say(0, {"init"}, 0).stage = Stage::init;
  for (int i = 0; i < kChanges; ++i) job.say(0, {"goes on"}, 1000 * i).stage = kStages[i % 3];
  const JobView view = job.view();
  const std::vector<StageChange>& stages = view.streams[0].state->stages;
  CHECK(stages.size() <= Stream::kStagesMax);
  CHECK(stages.front().stage == Stage::init);
  CHECK(stages.back().line == kChanges + 1);
  const detect::stage::Stages found = detect::stage::find_stages(view, make_clock(view));
  REQUIRE(found.spans.size() == 4);
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<std::size_t>(i) + 1;
    CAPTURE(i);
    CHECK(found.spans[at].stage == kStages[i]);
    CHECK(found.spans[at].begin == after(1000 * i));
    CHECK(found.spans[at].end == after(1000 * (kChanges - 1 - (kChanges - 1 - i) % 3)));
  }
  CHECK(found.last_of_rank[0] == kStages[(kChanges - 1) % 3]);
}

TEST_CASE("stages follow each other") {
  MadeJob job(1);
  const auto say = [&](Stage stage, std::int64_t ms) { job.say(0, {"a line"}, ms).stage = stage; };
  say(Stage::init, 0);
  say(Stage::init, 500);
  say(Stage::model_build, 1000);
  say(Stage::training, 2000);
  say(Stage::checkpoint_save, 3000);
  say(Stage::training, 4000);
  const JobView view = job.view();
  const auto stages = detect::stage::find_stages(view, make_clock(view));
  std::string spans;
  for (const auto& span : stages.spans) spans += std::string(name(span.stage)) + ' ';
  CHECK(spans == "init model_build training checkpoint_save ");
  CHECK(stages.spans[0].begin == after(0));
  CHECK(stages.spans[0].end == after(500));
  CHECK(stages.spans[2].begin == after(2000));
  CHECK(stages.spans[2].end == after(4000));
  CHECK(stages.last_of_rank[0] == Stage::training);
}

TEST_CASE("times of another clock are bounded by the first of the log's own") {
  Stream stream;
  stream.begin = after(9000);
  stream.end = after(9500);
  stream.last_completed_time = after(500);
  stream.stages.push_back({.line = 1, .time = after(9000), .end = after(9500)});
  stream.step_back(after(1000));
  CHECK(stream.begin == after(1000));
  CHECK(stream.end == after(1000));
  CHECK(stream.last_completed_time == after(500));
  CHECK(stream.stages[0].time == after(1000));
  CHECK(stream.stages[0].end == after(1000));
}

}  // namespace
}  // namespace l4::job
