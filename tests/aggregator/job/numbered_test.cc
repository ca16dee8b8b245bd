// Rows of ranks that print no iteration number, by the numbers that their peers print.
#include "aggregator/job/numbered.h"

#include <doctest/doctest.h>

#include "tests/aggregator/job/made_job.h"

namespace l4::job {
namespace {

using test::MadeJob;

void round_of(MadeJob& job, int rank, std::uint32_t beat) {
  wire::Segment& segment = job.say(rank, {"loader <*> ms"});
  segment.beat = beat;
  segment.rounds = 1;
  segment.timers = {{0, 1, 10.0 * beat, 10.0 * beat}};
}

TEST_CASE("rounds get the numbers of a rank that prints both") {
  MadeJob job(2);
  for (std::uint32_t beat = 3; beat <= 20; ++beat) {
    round_of(job, 0, beat);
    wire::Segment& segment = job.iterate(1, 100 + beat * 2, std::nullopt);
    segment.beat = beat;
  }
  const JobView view = job.view();
  const NumberedStreams numbered = number_streams(view);
  REQUIRE(numbered.size() == 2);
  for (const NumberedRows& rows : numbered) {
    REQUIRE(rows.size() == 18);
    CHECK(rows.number(0) == Iteration{106});
    CHECK(rows.find(Iteration{110}) == 2u);
    CHECK_FALSE(rows.find(Iteration{111}));
    CHECK(rows.from(Iteration{111}) == 3u);
    CHECK(rows.from(Iteration{1000}) == rows.size());
  }
}

TEST_CASE("without a rank that prints numbers, rounds have none") {
  MadeJob job(2);
  for (std::uint32_t beat = 3; beat <= 20; ++beat)
    for (int rank = 0; rank < 2; ++rank) round_of(job, rank, beat);
  const JobView view = job.view();
  for (const NumberedRows& rows : number_streams(view)) CHECK(rows.empty());
}

TEST_CASE("a rank that begins to print numbers drops its rounds") {
  MadeJob job(1);
  for (std::uint32_t beat = 3; beat <= 20; ++beat) round_of(job, 0, beat);
  job.iterate(0, 21, std::nullopt).beat = 21;
  const JobView view = job.view();
  CHECK(view.streams[0].state->beats.empty());
  CHECK(number_streams(view)[0].size() == 1);
}

}  // namespace
}  // namespace l4::job
