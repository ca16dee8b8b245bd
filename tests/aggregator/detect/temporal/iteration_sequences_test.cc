// What the temporal comparison gets of a job: events and durations of iterations.
#include "aggregator/detect/temporal/iteration_sequences.h"

#include <doctest/doctest.h>

#include <cmath>

#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::temporal {
namespace {

using job::test::MadeJob;

/// Seconds of rank 0's iterations, `pace` milliseconds apart, one of them 5 s late.
std::vector<double> seconds_of(std::int64_t pace, std::int64_t offset) {
  MadeJob job(4);
  for (std::int64_t k = 1; k <= 20; ++k)
    for (int rank = 0; rank < 4; ++rank) {
      wire::Segment& segment =
          job.iterate(rank, k, k * pace + offset + (k > 12 && rank == 0 ? 5000 : 0));
      segment.events[0].first_time = segment.end;
    }
  const job::JobView view = job.view();
  const IterationSequences found = collect_sequences(view, job::make_clock(view));
  std::vector<double> seconds;
  for (const StreamIteration& one : found.job.streams.at(0)) seconds.push_back(one.seconds);
  return seconds;
}

TEST_CASE("iterations have durations where lines print exact times") {
  const auto seconds = seconds_of(1013, 7);
  REQUIRE(seconds.size() == 20);
  CHECK(std::isnan(seconds[0]));
  CHECK(seconds[1] == doctest::Approx(1.013));
  CHECK(seconds[12] == doctest::Approx(6.013));
}

TEST_CASE("times of whole seconds give no durations") {
  for (const double one : seconds_of(1000, 0)) CHECK(std::isnan(one));
}

}  // namespace
}  // namespace l4::detect::temporal
