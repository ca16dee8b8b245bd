#include "agent/daemon/jobs.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/agent/segment/pack_reading.h"

namespace l4::daemon {
namespace {

using segment::test::packs;

pipeline::Options live() {
  pipeline::Options options;
  options.live = true;
  return options;
}

TEST_CASE("jobs: idle ones crowd the table, whatever else was shipped for them") {
  Jobs jobs(packs(), live(), {.jobs_max = 32, .idle_after = Millis{1'000}}, [](wire::Batch&&) {});
  for (int i = 0; i < 8; ++i) {
    const std::string job = "job-" + std::to_string(i);
    // No line of their own, like jobs that only the kernel's log names.
    jobs.of(job, Millis{0}).process({});
    jobs.flush(Millis{900});
  }
  CHECK(jobs.idle(Millis{999}) == 0);
  CHECK(jobs.idle(Millis{1'000}) == 8);
  CHECK(jobs.crowded(Millis{1'000}));
  for (int i = 0; i < 5; ++i) jobs.fed("job-" + std::to_string(i), Millis{500});
  CHECK(jobs.idle(Millis{1'000}) == 3);
  CHECK_FALSE(jobs.crowded(Millis{1'000}));
}

TEST_CASE("jobs: one that a process of still runs is not idle, however silent it is") {
  Jobs jobs(packs(), live(), {.jobs_max = 2, .idle_after = Millis{1'000}}, [](wire::Batch&&) {});
  jobs.of("silent", Millis{0});
  jobs.of("busy", Millis{900});
  CHECK(jobs.crowded(Millis{1'000}));
  CHECK_FALSE(jobs.crowded(Millis{1'000}, {"silent"}));
  CHECK(jobs.idle(Millis{2'000}, {"silent"}) == 1);
}

TEST_CASE("jobs: a full table makes room for one") {
  Jobs jobs(packs(), live(), {.jobs_max = 16, .idle_after = Millis{1'000}}, [](wire::Batch&&) {});
  for (int i = 0; i < 16; ++i) jobs.of("job-" + std::to_string(i), Millis{i == 0 ? 0 : 500});
  CHECK(jobs.crowded(Millis{1'000}));
  CHECK(jobs.of("one more", Millis{1'000}).job() == "job-0");
  CHECK(jobs.refused() == 1);
}

}  // namespace
}  // namespace l4::daemon
