// The short course of a stream's iterations: by stamps as exact as they are, by timers, bounded.
#include "aggregator/job/laps.h"

#include <doctest/doctest.h>

#include "aggregator/job/job_state.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::job {
namespace {

using test::MadeJob;

std::vector<double> course_of(MadeJob& made, std::size_t most) {
  const JobView view = made.view();
  const StreamView& first = view.streams.front();
  return newest_course(*first.state, first.agent->timers, most);
}

TEST_CASE("the course has the newest iterations, oldest first") {
  MadeJob made(1);
  std::int64_t ms = 0;
  for (std::int64_t k = 1; k <= 40; ++k) made.iterate(0, k, ms += k < 38 ? 501 : 907);
  const auto course = course_of(made, 8);
  REQUIRE(course.size() == 8);
  CHECK(course[0] == 501);
  CHECK(course[4] == 501);
  CHECK(course[5] == 907);
  CHECK(course[7] == 907);
}

TEST_CASE("stamps of whole seconds tell of stretches of ten of them") {
  MadeJob made(1);
  for (std::int64_t k = 1; k <= 120; ++k) made.iterate(0, k, k * 700 / 1000 * 1000);
  const auto course = course_of(made, 32);
  REQUIRE_FALSE(course.empty());
  for (const double ms : course) {
    CHECK(ms > 600);
    CHECK(ms < 800);
  }
}

TEST_CASE("without times timers tell, and without both there is no course") {
  MadeJob timed(1);
  for (std::int64_t k = 1; k <= 5; ++k) timed.iterate(0, k, std::nullopt, 100);
  CHECK(course_of(timed, 32) == std::vector<double>{100, 100, 100, 100, 100});
  MadeJob bare(1);
  for (std::int64_t k = 1; k <= 5; ++k) bare.iterate(0, k, std::nullopt);
  CHECK(course_of(bare, 32).empty());
}

}  // namespace
}  // namespace l4::job
