#include "agent/host/limits.h"

#include <doctest/doctest.h>

#include "tests/agent/host/fake_proc.h"

namespace l4::host {
namespace {

using test::FakeProc;

/// /proc/self of a made-up agent.
struct Self {
  FakeProc fake;
  HostTime now{TimeMs{Millis{1'700'000'000'000}}, std::chrono::seconds{100}};
  long cpu_ticks = 0;

  Self() {
    std::filesystem::create_directory_symlink(fake.folder(42), fake.root() / "self");
    set(0, 1000, 3);
  }
  void set(long more_ticks, long pages, int files) {
    cpu_ticks += more_ticks;
    fake.remove(42);
    fake.set(42, {.state = 'R', .cpu_ticks = cpu_ticks});
    fake.write(42, "statm", "9999 " + std::to_string(pages) + " 1 1 0 1 0\n");
    for (int fd = 0; fd < files; ++fd) fake.open(42, fd, "/dev/null");
  }
  const Usage& after(Limits& limits, int ms) {
    now.wall += Millis{ms};
    now.boot += Millis{ms};
    return limits.measure(now);
  }
};

TEST_CASE("limits: what is used") {
  Self self;
  Limits limits{self.fake.proc(), {.cpu_share = 0.5}};
  limits.measure(self.now);
  self.set(10, 2000, 7);  // 100 ms of CPU time
  const Usage& usage = self.after(limits, 1000);
  CHECK(usage.cpu_share == doctest::Approx(0.1));
  CHECK(usage.resident_bytes == 2000 * 4096);
  CHECK(usage.descriptors == 7);
  CHECK(limits.bounds().descriptors > 0);
  CHECK(limits.flush_notices().empty());
}

TEST_CASE("limits: CPU time is a bucket that a burst may empty") {
  Self self;
  Limits limits{self.fake.proc(), {.cpu_share = 0.1, .burst = Millis{10'000}}};  // 1 s full
  limits.measure(self.now);
  self.set(90, 1000, 3);
  self.after(limits, 1000);
  CHECK(limits.pause() == Millis{0});
  self.set(40, 1000, 3);
  self.after(limits, 1000);  // 0.1 + 0.1 - 0.4 s: 0.2 s of debt are paid back in 2 s
  CHECK(limits.over_cpu());
  CHECK(limits.pause() == Millis{1000});  // never longer at once
  CHECK(limits.stats().cpu_passed == 1);
  CHECK(limits.flush_notices().size() == 1);
  self.after(limits, 1500);
  CHECK(limits.pause() <= Millis{600});
  CHECK(limits.pause() >= Millis{400});
  self.after(limits, 1000);
  CHECK_FALSE(limits.over_cpu());
  // After the end of the excess the next one is reported again.
  self.after(limits, 60'000);
  self.set(500, 1000, 3);
  self.after(limits, 1000);
  CHECK(limits.stats().cpu_passed == 2);
  CHECK(limits.flush_notices().size() == 1);
  // Every debt is paid back, however large.
  self.after(limits, 11'000);
  CHECK_FALSE(limits.over_cpu());
}

TEST_CASE("limits: memory and descriptors, with some room before they are well again") {
  Self self;
  Limits limits{self.fake.proc(), {.resident_bytes = 4096 * 1000, .descriptors = 10}};
  self.set(0, 1000, 9);
  limits.measure(self.now);
  CHECK(limits.over_memory());
  CHECK_FALSE(limits.over_descriptors());
  self.set(0, 950, 10);
  self.after(limits, 1000);
  CHECK(limits.over_memory());
  CHECK(limits.over_descriptors());
  self.set(0, 890, 8);
  self.after(limits, 1000);
  CHECK_FALSE(limits.over_memory());
  CHECK_FALSE(limits.over_descriptors());
  CHECK(limits.stats().memory_passed == 1);
  CHECK(limits.stats().descriptors_passed == 1);
  // Each excess and its end are reported once; the next excess and its end are reported, too.
  const auto said = limits.flush_notices();
  REQUIRE(said.size() == 4);
  CHECK(said[0].text == "bytes of resident memory are at their bound: 4096000 of 4096000");
  CHECK(said[1].text == "open files are at their bound: 10 of 10");
  CHECK(said[2].text ==
        "bytes of resident memory are within their bound again: 3645440 of 4096000");
  CHECK(said[3].text == "open files are within their bound again: 8 of 10");
  self.set(0, 1000, 8);
  self.after(limits, 1000);
  self.set(0, 100, 8);
  self.after(limits, 1000);
  CHECK(limits.flush_notices().size() == 2);
}

TEST_CASE("limits: no bound, no /proc, a clock that stands") {
  Self self;
  Limits open{self.fake.proc(), {.cpu_share = 0, .resident_bytes = 0}};
  open.measure(self.now);
  self.set(1000, 1'000'000, 5);
  self.after(open, 1000);
  CHECK_FALSE(open.over_cpu());
  CHECK_FALSE(open.over_memory());
  open.measure(self.now);  // the same moment again
  Limits blind{Proc{"/nowhere/at/all"}, {}};
  CHECK(blind.measure(self.now) == Usage{});
  CHECK(blind.stats().unread == 1);
}

TEST_CASE("limits: this process") {
  Limits limits{Proc{}, {}};
  HostTime now = host_time();
  limits.measure(now);
  now.boot += std::chrono::seconds{1};
  const Usage& usage = limits.measure(now);
  CHECK(usage.resident_bytes > 1'000'000);
  CHECK(usage.descriptors >= 3);
  CHECK(usage.cpu_share >= 0);
  CHECK(limits.stats().unread == 0);
}

}  // namespace
}  // namespace l4::host
