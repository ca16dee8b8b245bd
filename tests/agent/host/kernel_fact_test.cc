#include "agent/host/kernel_fact.h"

#include <doctest/doctest.h>

#include "tests/agent/host/fake_proc.h"

namespace l4::host {
namespace {

using std::chrono::seconds;

struct LoggedHost {
  test::FakeProc fake;
  ProcessWatch watch{fake.proc(), {.boot_id_path = fake.file("boot_id").string()}};

  LoggedHost() {
    const auto log = fake.file("rank3.log");
    fake.set(4711, {.start_ticks = 5000,
                    .environment = {"RANK=3", "LOCAL_RANK=3", "TORCHELASTIC_RUN_ID=job"}});
    fake.set(4712, {.parent = 4711,
                    .start_ticks = 6000,
                    .environment = {"RANK=3", "LOCAL_RANK=3", "TORCHELASTIC_RUN_ID=job"}});
    for (const int pid : {4711, 4712}) fake.open(pid, 1, log);
    watch.add_log({"rank3.log", "n7", test::key_of(log)});
    watch.poll({TimeMs{seconds{1'000'000}}, seconds{100}});
  }
  std::optional<KernelFact> at(int second, const std::string& text, bool kernel = true) {
    KernelRecord record;
    record.since_boot = seconds{second};
    record.kernel = kernel;
    record.text = text;
    return kernel_fact(record, watch, "host-1");
  }
};

TEST_CASE("kernel fact: a watched pid makes it a rank's, also a worker of the rank") {
  LoggedHost host;
  const auto rank = host.at(99, "python3[4711]: segfault at 0 ip 0 sp 0 error 4");
  REQUIRE(rank);
  CHECK(rank->rank == Rank{3});
  CHECK(rank->node == "n7");
  CHECK(rank->job == "job");
  CHECK(rank->started == seconds{50});
  const auto worker = host.at(99, "Out of memory: Killed process 4712 (python3) total-vm:1kB");
  REQUIRE(worker);
  CHECK(worker->rank == Rank{3});
}

TEST_CASE("kernel fact: everybody else's is the host's") {
  LoggedHost host;
  for (const char* text : {"python3[99]: segfault at 0 ip 0 sp 0 error 4",
                           "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."}) {
    const auto fact = host.at(99, text);
    REQUIRE(fact);
    CHECK_FALSE(fact->rank);
    CHECK_FALSE(fact->started);
    CHECK(fact->node == "host-1");
  }
  // Before the rank began, another process had its pid.
  const auto before = host.at(20, "python3[4711]: segfault at 0 ip 0 sp 0 error 4");
  REQUIRE(before);
  CHECK_FALSE(before->rank);
}

TEST_CASE("kernel fact: what only goes through the kernel's log is none") {
  LoggedHost host;
  CHECK_FALSE(host.at(99, "python3[4711]: segfault at 0 ip 0 sp 0 error 4", false));
  CHECK_FALSE(host.at(99, "hello"));
}

}  // namespace
}  // namespace l4::host
