#include "aggregator/job/rank_coverage.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "aggregator/diagnose/diagnose.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::job {
namespace {

using test::after;
using test::MadeJob;
using wire::ProcessFact;
using wire::ProcessState;

struct CoveredJob {
  void tell(const std::string& agent, std::int32_t rank, std::int32_t world, std::int32_t attempt,
            std::int64_t began_ms, std::optional<std::int64_t> gone_ms = {}) {
    ProcessFact fact;
    fact.boot_id = agent;
    fact.pid = wire::Pid{static_cast<std::int32_t>(100 + rank)};
    fact.started = after(began_ms);
    fact.started_boot = Millis{began_ms};
    fact.part = wire::Part::rank;
    fact.node = agent;
    fact.attempt = attempt;
    fact.rank = Rank{rank};
    fact.world_size = world;
    fact.state = gone_ms ? ProcessState::gone : ProcessState::sleeping;
    fact.since = after(gone_ms.value_or(began_ms));
    wire::Batch batch;
    batch.agent = agent;
    batch.processes.push_back(fact);
    CHECK(state.apply(batch));
  }
  TemplateTable templates;
  JobState state{"job", 0, templates};
};

}  // namespace

TEST_CASE("rank coverage: in words") {
  RankCoverage coverage;
  CHECK(text(coverage) == "0 ranks mapped");
  coverage.ranks.insert(Rank{0});
  CHECK(text(coverage) == "1 rank mapped");
  CHECK_FALSE(coverage.is_short());
  for (int rank = 1; rank < 1021; ++rank) coverage.ranks.insert(Rank{rank});
  CHECK(text(coverage) == "1,021 ranks mapped");
  coverage.expected = 1024;
  CHECK(text(coverage) == "1,021 of 1,024 ranks mapped");
  CHECK(coverage.is_short());
  coverage.expected = 1021;
  CHECK_FALSE(coverage.is_short());
}

TEST_CASE("rank coverage: by processes and by logs, each rank once") {
  MadeJob made(2, 2);  // logs of ranks 0 to 3
  made.iterate_all(1, 3);
  CoveredJob job;
  for (const wire::Batch& batch : made.batches()) CHECK(job.state.apply(batch));
  CHECK(text(rank_coverage(job.state)) == "4 ranks mapped");
  job.tell("node-0", 0, 8, 0, 1'000);
  job.tell("node-0", 1, 8, 0, 1'000);
  job.tell("node-9", 6, 8, 0, 1'000);  // its log names no rank
  CHECK(text(rank_coverage(job.state)) == "5 of 8 ranks mapped");
  const auto warned = [&] {
    const auto report = diagnose::diagnose(job.state, {}, {}).report;
    const auto found = std::ranges::find(report.warnings, "ranks", &wire::Warning::kind);
    return found == report.warnings.end() ? std::string() : found->reason;
  };
  CHECK(warned() == "5 of 8 ranks mapped");
  for (const std::int32_t rank : {4, 5, 7}) job.tell("node-9", rank, 8, 0, 1'000);
  CHECK(text(rank_coverage(job.state)) == "8 of 8 ranks mapped");
  CHECK(warned().empty());
}

TEST_CASE("rank coverage: of the newest attempt, however each agent numbers it") {
  CoveredJob job;
  for (const std::int32_t rank : {0, 1}) job.tell("a", rank, 4, 0, 1'000, 5'000);
  for (const std::int32_t rank : {2, 3}) job.tell("b", rank, 4, 0, 1'000, 5'100);
  CHECK(text(rank_coverage(job.state)) == "4 of 4 ranks mapped");  // all processes have left
  // The job starts again on two nodes: `c` is in its first attempt, and `b` no longer belongs to
  // the job.
  job.tell("a", 10, 3, 1, 9'000);
  job.tell("a", 11, 3, 1, 9'000);
  job.tell("c", 2, 3, 0, 9'100);
  const RankCoverage now = rank_coverage(job.state);
  CHECK(now.expected == 3);
  CHECK(now.ranks == std::set<Rank>{Rank{2}, Rank{10}, Rank{11}});
}

}  // namespace l4::job
