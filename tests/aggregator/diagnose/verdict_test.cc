// In which state a job is, of jobs told by hand.
#include "aggregator/diagnose/verdict.h"

#include <doctest/doctest.h>

#include "aggregator/diagnose/diagnose.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::diagnose {
namespace {

using job::test::MadeJob;
using job::test::Say;

/// Four ranks start; rank 0 gives signs of progress, or prints iterations; rank 2 fails.
State state_after(int signs, bool counted) {
  MadeJob job(4);
  for (int rank = 0; rank < 4; ++rank) {
    job.say(rank, {"initializing the process group"}, 0).stage = Stage::init;
    job.say(rank, {"building the model"}, 5'000).stage = Stage::model_build;
  }
  std::int64_t now = 20'000;
  for (int k = 1; k <= signs; ++k) job.iterate(0, k, now += 1'000).counted = counted;
  const Say failure{"Traceback (most recent call last): RuntimeError: bad", Level::fatal};
  job.say(2, failure, now + 2'000);
  return diagnose(job.state(), {}, {}).report.verdict.state;
}

TEST_CASE("verdict: a sign or two that training begins is no training") {
  for (const int signs : {0, 1, 2}) CHECK(state_after(signs, true) == State::launch_failed);
  for (const int signs : {3, 20}) CHECK(state_after(signs, true) == State::crashed);
}

TEST_CASE("verdict: an iteration that is printed is training") {
  for (const int iterations : {1, 2, 20}) CHECK(state_after(iterations, false) == State::crashed);
}

}  // namespace
}  // namespace l4::diagnose
