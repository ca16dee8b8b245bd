// Warnings about a rank on two nodes and a node with a wrong clock, and none without such a doubt.
#include "aggregator/job/doubts.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/aggregator/job/made_job.h"

namespace l4::job {
namespace {

using test::MadeJob;

constexpr std::int64_t kHourMs = 3'600'000;

/// Iterations 1..5, a second each, with node 2's clock off by some hours.
MadeJob job_with_clock_off(int nodes, std::int64_t hours) {
  MadeJob job(nodes);
  for (std::int64_t k = 1; k <= 5; ++k)
    for (int rank = 0; rank < nodes; ++rank)
      job.iterate(rank, k, k * 1000 + (rank == 2 ? hours * kHourMs : 0));
  return job;
}

TEST_CASE("doubts: a sound job raises none") {
  MadeJob job(4, 2);
  for (int rank = 0; rank < job.ranks(); ++rank) job.source_of(rank).rank_source = RankSource::env;
  job.iterate_all(1, 10);
  CHECK(doubts(job.state()).empty());
}

TEST_CASE("doubts: a rank that file names put on two nodes") {
  MadeJob job(3);
  for (int rank = 0; rank < 3; ++rank) {
    job.source_of(rank).rank_source = RankSource::env;
    job.source_of(rank).path = "node" + std::to_string(rank) + ".log";
  }
  job.source_of(2).rank = Rank{0};
  job.iterate_all(1, 3);
  const auto told = doubts(job.state());
  REQUIRE(told.size() == 1);
  CHECK(told[0].kind == "rank");
  CHECK(told[0].file == "node0.log");
  CHECK(told[0].reason == "rank 0 is claimed by 2 nodes, also by node2.log");
  job.source_of(2).attempt = 1;  // a restart may move a rank
  CHECK(doubts(job.state()).empty());
}

TEST_CASE("doubts: a clock that differs from most") {
  for (const std::int64_t hours : {-3, 2}) {
    MadeJob job = job_with_clock_off(4, hours);
    const auto told = doubts(job.state());
    REQUIRE(told.size() == 1);
    CHECK(told[0].kind == "clock");
    CHECK(told[0].file == job.source_of(2).path);
    CHECK(told[0].reason.find(hours < 0 ? "3 h 0 min behind" : "2 h 0 min ahead of") !=
          std::string::npos);
  }
  CHECK(doubts(job_with_clock_off(4, 0).state()).empty());
  // With two clocks either may be wrong.
  CHECK(doubts(job_with_clock_off(2, 5).state()).empty());
}

}  // namespace
}  // namespace l4::job
