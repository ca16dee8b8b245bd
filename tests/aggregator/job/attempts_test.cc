// The attempt of a stream: by its path, and by the run of its file.
#include "aggregator/job/attempts.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "aggregator/job/view.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::job {
namespace {

using test::after;
using test::MadeJob;

/// A further run in the file of a rank: its source.
SourceId next_run(MadeJob& job, int rank, std::uint32_t run) {
  const wire::SourceDefinition first = job.source_of(rank);
  wire::SourceDefinition& added = job.add_source(rank);
  const SourceId id = added.id;
  added = first;
  added.id = id;
  added.run = run;
  return id;
}

TEST_CASE("runs of a file are attempts, one after another") {
  MadeJob job(2);
  job.iterate_all(1, 3);
  for (const int rank : {0, 1}) job.say_on(rank, next_run(job, rank, 1), {"here again"}, 60'000);
  CHECK(Attempts(job.state()).numbers() == std::vector<std::int32_t>{0, 1});
  CHECK(job.view(0).end == after(3000));
  CHECK(job.view(1).begin == after(60'000));
  CHECK(job.view(1).training_ranks() == 2);
  CHECK_FALSE(job.view(1).ranks[0].completed.has_value());
  CHECK_FALSE(Attempts(job.state()).is_rerun(0));
  CHECK(Attempts(job.state()).is_rerun(1));
}

TEST_CASE("what the kernel says of a rank belongs to the attempt that ran then") {
  MadeJob job(2);
  job.iterate_all(1, 3);
  for (const int rank : {0, 1}) job.say_on(rank, next_run(job, rank, 1), {"here again"}, 60'000);
  const auto kernel = [&](std::int32_t start, std::int64_t ms) {
    wire::SourceDefinition& source = job.add_source(1);
    source.kind = wire::SourceKind::kernel;
    source.path = "/dev/kmsg";
    source.rank = Rank{1};
    source.attempt = start;
    const SourceId id = source.id;
    job.say_on(1, id, {"Out of memory: Killed process 4711 (python3)", Level::error}, ms);
  };
  kernel(0, 4000);
  CHECK(job.view(0).ranks[1].streams.size() == 2);
  CHECK(job.view(1).ranks[1].streams.size() == 1);
  kernel(1, 70'000);
  CHECK(job.view(0).ranks[1].streams.size() == 2);
  CHECK(job.view(1).ranks[1].streams.size() == 2);
}

TEST_CASE("further runs count on from the attempt of the path") {
  MadeJob job(2);
  job.source_of(1).attempt = 1;
  job.iterate_all(1, 3);
  job.say_on(0, next_run(job, 0, 1), {"here again"}, 60'000);
  CHECK(Attempts(job.state()).numbers() == std::vector<std::int32_t>{0, 1, 2});
  CHECK_FALSE(Attempts(job.state()).is_rerun(2));
  CHECK(job.view(2).ranks[0].rank == Rank{1});
}

TEST_CASE("a file in which no run is seen to begin belongs to the last that it lived to see") {
  MadeJob job(3);
  job.iterate_all(1, 3);
  job.say_on(0, next_run(job, 0, 1), {"here again"}, 60'000);
  job.iterate(1, 4, 90'000);  // rank 1 goes on in one run; rank 2 prints nothing more
  const JobView last = job.view(1);
  CHECK(last.training_ranks() == 2);
  CHECK(last.ranks[1].rank == Rank{1});
  CHECK(job.view(0).training_ranks() == 2);
}

TEST_CASE("what carries no time at its end may have seen the last run") {
  for (const bool timed : {true, false}) {
    CAPTURE(timed);
    MadeJob job(2);
    job.iterate_all(1, 3);
    job.say_on(0, next_run(job, 0, 1), {"here again"}, 60'000);
    for (std::int64_t k = 4; k <= 8; ++k)
      job.iterate(1, k, timed ? std::optional(k * 1000) : std::nullopt);
    CHECK(job.view(1).training_ranks() == (timed ? 1 : 2));
    CHECK(job.view(0).training_ranks() == (timed ? 2 : 1));
  }
}

TEST_CASE("of many runs of a file the newest are kept, and keep their numbers") {
  MadeJob job(2);
  job.iterate_all(1, 3);
  constexpr std::uint32_t kRuns = kRunsKept + 8;
  for (std::uint32_t run = 1; run < kRuns; ++run)
    job.say_on(0, next_run(job, 0, run), {"here again"}, run * 60'000);
  job.iterate(1, 4, kRuns * 60'000);
  const JobState& state = job.state();
  const Attempts attempts(state);
  const auto numbers = attempts.numbers();
  REQUIRE(numbers.size() == kRunsKept);
  CHECK(numbers.front() == 8);
  CHECK(numbers.back() == kRuns - 1);
  CHECK(attempts.dropped() == 8);
  CHECK(make_view(attempts, 8, false).begin == after(8 * 60'000));
  CHECK(make_view(attempts, kRuns - 1, false).training_ranks() == 2);
  CHECK(state.agents().at("node-0").streams.size() == kRunsKept);
}

TEST_CASE("what an agent says again of a run that was let go is left out") {
  MadeJob job(1);
  job.iterate_all(1, 3);
  for (std::uint32_t run = 1; run <= kRunsKept; ++run)
    job.say_on(0, next_run(job, 0, run), {"here again"}, run * 60'000);
  TemplateTable templates;
  JobState state("made", 0, templates);
  const wire::Batch batch = job.batches().front();
  REQUIRE(state.apply(batch).has_value());
  REQUIRE(state.apply(batch).has_value());
  CHECK(state.agents().at("node-0").streams.size() == kRunsKept);
  CHECK(Attempts(state).numbers().front() == 1);
}

TEST_CASE("run numbers at the end of their range, and sources that become others") {
  constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();
  TemplateTable templates;
  JobState state("made", 0, templates);
  const auto define = [&](std::uint32_t id, const char* path, std::uint32_t run) {
    wire::Batch batch;
    batch.agent = "node-0";
    wire::SourceDefinition source;
    source.id = SourceId{id};
    source.path = path;
    source.run = run;
    batch.sources.push_back(source);
    REQUIRE(state.apply(batch).has_value());
  };
  const auto known = [&] { return state.agents().at("node-0").streams.size(); };
  define(0, "a", kLast - 3);
  define(1, "a", kLast);
  CHECK(known() == 2);
  define(2, "a", 7);  // long gone
  CHECK(known() == 2);
  define(1, "b", 1);
  define(2, "a", 7);  // the newest run of the source moved to another file
  CHECK(known() == 2);
  define(0, "b", 40);
  define(3, "a", 7);
  CHECK(state.agents().at("node-0").runs.at("a").size() == 1);
  CHECK(state.agents().at("node-0").runs.at("b").size() == 1);
  CHECK(known() == 2);
}

TEST_CASE("a launcher's file without runs speaks in all of them") {
  MadeJob job(1);
  job.iterate_all(1, 3);
  const SourceId launcher = job.add_source(0).id;
  job.say_on(0, launcher, {"starting workers"}, 0);
  job.say_on(0, next_run(job, 0, 1), {"here again"}, 60'000);
  CHECK(job.view(0).ranks.size() == 2);
  CHECK(job.view(1).ranks.size() == 2);
}

}  // namespace
}  // namespace l4::job
