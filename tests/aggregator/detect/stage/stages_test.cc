// The stage of each rank, and ranks that printed the end of training.
#include "aggregator/detect/stage/stages.h"

#include <doctest/doctest.h>

#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::stage {
namespace {

using job::test::after;
using job::test::MadeJob;

constexpr auto kEnd = wire::kMarkFinished;

Stages find(MadeJob& made) {
  const job::JobView view = made.view();
  return find_stages(view, job::make_clock(view));
}

void enter(MadeJob& job, int rank, Stage stage, std::int64_t ms) {
  job.say(rank, {"a line of a stage"}, ms).stage = stage;
}

TEST_CASE("a span covers all ranks that were in the stage") {
  MadeJob job(3);
  for (int rank = 0; rank < 3; ++rank) {
    enter(job, rank, Stage::init, 100 * rank);
    enter(job, rank, Stage::model_build, 1000 + 100 * rank);
  }
  enter(job, 1, Stage::checkpoint_load, 5000);
  const Stages stages = find(job);
  REQUIRE(stages.spans.size() == 3);
  CHECK(stages.spans[0].stage == Stage::init);
  CHECK(stages.spans[0].begin == after(0));
  CHECK(stages.spans[0].end == after(200));
  CHECK(stages.spans[0].ranks == 3);
  CHECK(stages.spans[2].stage == Stage::checkpoint_load);
  CHECK(stages.spans[2].ranks == 1);
  CHECK(stages.last_of_rank ==
        std::vector<Stage>{Stage::model_build, Stage::checkpoint_load, Stage::model_build});
}

TEST_CASE("a stage that comes back is one span") {
  MadeJob job(1);
  enter(job, 0, Stage::training, 0);
  enter(job, 0, Stage::checkpoint_save, 1000);
  enter(job, 0, Stage::training, 2000);
  enter(job, 0, Stage::checkpoint_save, 3000);
  const Stages stages = find(job);
  REQUIRE(stages.spans.size() == 2);
  CHECK(stages.spans[0].stage == Stage::training);
  CHECK(stages.spans[1].begin == after(1000));
  CHECK(stages.spans[1].end == after(3000));
  CHECK(stages.last_of_rank[0] == Stage::checkpoint_save);
}

TEST_CASE("launchers are in no count of ranks") {
  MadeJob job(1);
  const SourceId id = job.add_source(0).id;
  job.say_on(0, id, {"sending off the job"}, 0).stage = Stage::submit;
  enter(job, 0, Stage::init, 1000);
  const Stages stages = find(job);
  REQUIRE(stages.spans.size() == 2);
  CHECK(stages.spans[0].stage == Stage::submit);
  CHECK(stages.spans[0].ranks == 0);
}

TEST_CASE("a stage that its last line ended is over") {
  MadeJob job(1);
  enter(job, 0, Stage::training, 0);
  wire::Segment& segment = job.say(0, {"a line of a stage"}, 1000);
  segment.stage = Stage::checkpoint_save;
  segment.stage_after = Stage::training;
  const Stages stages = find(job);
  CHECK(stages.last_of_rank[0] == Stage::training);
  REQUIRE(stages.spans.size() == 2);
  CHECK(stages.spans[0].end == after(1000));
  CHECK(stages.spans[1].end == after(1000));
}

TEST_CASE("who paused before what others completed since trains again") {
  MadeJob job(3);
  job.iterate_all(1, 20);
  for (int rank = 0; rank < 3; ++rank) enter(job, rank, Stage::evaluation, 20'100);
  CHECK(find(job).last_of_rank == std::vector<Stage>(3, Stage::evaluation));
  job.iterate(0, 21, 24'000);
  CHECK(find(job).last_of_rank == std::vector<Stage>(3, Stage::training));
}

TEST_CASE("who prints no iteration trains again when others went on after its words") {
  MadeJob job(2);
  for (std::int64_t k = 1; k <= 20; ++k) job.iterate(0, k, k * 1000);
  enter(job, 1, Stage::checkpoint_save, 20'100);
  CHECK(find(job).last_of_rank[1] == Stage::checkpoint_save);
  job.iterate(0, 21, 21'000);  // clocks differ
  CHECK(find(job).last_of_rank[1] == Stage::checkpoint_save);
  job.iterate(0, 22, 23'000);
  CHECK(find(job).last_of_rank[1] == Stage::training);
}

TEST_CASE("who starts up does not train because others do") {
  MadeJob job(2);
  enter(job, 1, Stage::init, 100);
  for (std::int64_t k = 1; k <= 20; ++k) job.iterate(0, k, k * 1000);
  CHECK(find(job).last_of_rank[1] == Stage::init);
}

TEST_CASE("lines without a stage make no span") {
  MadeJob job(2);
  for (int rank = 0; rank < 2; ++rank) enter(job, rank, Stage::unknown, 0);
  const Stages stages = find(job);
  CHECK(stages.spans.empty());
  CHECK(stages.last_of_rank == std::vector<Stage>(2, Stage::unknown));
}

TEST_CASE("finished is who says so as its last word") {
  MadeJob job(3);
  job.iterate_all(1, 20);
  job.say(0, {"exiting program", Level::info, kEnd}, 20'500);
  job.say(2, {"exiting program", Level::info, kEnd}, 20'600);
  const Stages stages = find(job);
  CHECK(stages.finished == std::vector<bool>{true, false, true});
}

TEST_CASE("without times, who prints no iterations has finished only with its last lines") {
  MadeJob job(3);
  for (std::int64_t k = 1; k <= 20; ++k) job.iterate(0, k, std::nullopt);
  for (const int rank : {1, 2}) job.say(rank, {"exiting program", Level::info, kEnd}, 500);
  for (int i = 0; i < 40; ++i) job.say(1, {"at work again"}, 600 + i);
  CHECK(find(job).finished == std::vector<bool>{false, false, true});
}

TEST_CASE("kind: the last number, printed again behind the word of the end, begins nothing") {
  for (const bool counted : {false, true})
    for (const std::int64_t behind : {20, 21}) {
      CAPTURE(counted);
      CAPTURE(behind);
      MadeJob job(1);
      for (std::int64_t k = 1; k <= 20; ++k) job.iterate(0, k, k * 1000).counted = counted;
      job.say(0, {"run is complete", Level::info, kEnd}, 20'500);
      job.iterate(0, behind, 20'600).counted = counted;
      CHECK(find(job).finished[0] == (counted || behind == 20));
    }
}

TEST_CASE("a word of ending among iterations ends nothing") {
  MadeJob job(2);
  job.iterate_all(1, 10);
  job.say(0, {"exiting program", Level::info, kEnd}, 10'500);
  job.iterate_all(11, 30);
  CHECK(find(job).finished == std::vector<bool>{false, false});
}

TEST_CASE("who ended long before the others went on did not end the job") {
  MadeJob job(2);
  job.iterate_all(1, 10);
  job.say(0, {"exiting program", Level::info, kEnd}, 10'500);
  for (std::int64_t k = 11; k <= 60; ++k) job.iterate(1, k, k * 1000);
  CHECK(find(job).finished == std::vector<bool>{false, false});
}

}  // namespace
}  // namespace l4::detect::stage
