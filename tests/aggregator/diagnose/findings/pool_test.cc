// Events of healthy runs, kept for comparison.
#include "aggregator/diagnose/findings/pool.h"

#include <doctest/doctest.h>

#include "aggregator/diagnose/diagnose.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::diagnose {
namespace {

using job::test::event_of;
using job::test::MadeJob;

const job::test::Say kNoise{"push of metrics failed", Level::error};

/// Three nodes; node n says the noise n times per iteration.
MadeJob noisy(int iterations) {
  MadeJob job(3);
  for (int k = 1; k <= iterations; ++k)
    for (int rank = 0; rank < 3; ++rank) {
      for (int i = 0; i < rank; ++i) job.say(rank, kNoise, k * 1000 - 100);
      job.iterate(rank, k, k * 1000);
    }
  return job;
}

TEST_CASE("counts and lines by node") {
  MadeJob made = noisy(10);
  const job::JobView view = made.view();
  CHECK(counts_by_node(view, view.events[event_of(view, "push")]) ==
        std::vector<std::uint64_t>{0, 10, 20});
  CHECK(lines_by_node(view) == std::vector<std::uint64_t>{10, 20, 30});
}

TEST_CASE("an empty pool knows nothing") {
  const Pool pool;
  CHECK(pool.runs == 0);
  CHECK(pool.find(TemplateId{7}) == nullptr);
}

TEST_CASE("a pool remembers in how many runs an event was and how much of it at most") {
  Pool pool;
  MadeJob few = noisy(10);
  MadeJob many = noisy(40);
  MadeJob quiet(3);
  quiet.iterate_all(1, 10);
  const job::JobView view = few.view();
  const TemplateId noise = view.events[event_of(view, "push")].id;
  const TemplateId step = view.events[event_of(view, "step done")].id;
  add_run(pool, view);
  add_run(pool, many.view());
  add_run(pool, quiet.view());
  CHECK(pool.runs == 3);
  CHECK(pool.wordless == 3);
  REQUIRE(pool.find(noise) != nullptr);
  CHECK(pool.find(noise)->runs == 2);
  CHECK(pool.find(noise)->node_count_max == 80);
  CHECK(pool.find(noise)->node_rate_max == doctest::Approx(2.0 / 3));
  REQUIRE(pool.find(step) != nullptr);
  CHECK(pool.find(step)->runs == 3);
  CHECK(pool.find(TemplateId{7}) == nullptr);
}

TEST_CASE("the order of runs does not matter") {
  MadeJob a = noisy(10);
  MadeJob b = noisy(40);
  const job::JobView view_a = a.view();
  const job::JobView view_b = b.view();
  Pool one;
  add_run(one, view_a);
  add_run(one, view_b);
  Pool two;
  add_run(two, view_b);
  add_run(two, view_a);
  REQUIRE(one.events.size() == two.events.size());
  for (const auto& [id, event] : one.events) {
    REQUIRE(two.find(id) != nullptr);
    CHECK(two.find(id)->runs == event.runs);
    CHECK(two.find(id)->node_count_max == event.node_count_max);
    CHECK(two.find(id)->node_rate_max == event.node_rate_max);
  }
}

/// Two ranks whose iterations take `times` as long from the 61st on.
MadeJob slowing(std::int64_t times) {
  MadeJob job(2);
  std::int64_t now = 0;
  for (std::int64_t k = 1; k <= 140; ++k) {
    now += k > 60 ? 5000 * times : 5000;
    for (int rank = 0; rank < 2; ++rank) job.iterate(rank, k, now);
  }
  return job;
}

State state_of(std::int64_t times, std::int64_t healthy_times) {
  MadeJob job = slowing(times), healthy = slowing(healthy_times);
  return diagnose(job.state(), {&healthy.state()}, {}).report.verdict.state;
}

TEST_CASE("what healthy runs do, too, is no slowness; far more of it is") {
  MadeJob even = slowing(1), slow = slowing(4);
  CHECK(slowed_by(even.view()) == 1);
  CHECK(slowed_by(slow.view()) == doctest::Approx(4).epsilon(0.05));
  CHECK(state_of(4, 1) == State::slow);
  CHECK(state_of(4, 4) != State::slow);
  CHECK(state_of(4, 3) != State::slow);
  CHECK(state_of(1, 1) != State::slow);
  CHECK(state_of(6, 2) == State::slow);
}

}  // namespace
}  // namespace l4::diagnose
