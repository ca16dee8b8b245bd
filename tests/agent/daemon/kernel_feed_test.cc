// A kernel message goes to the job and rank of the process that it names, else to all jobs here.
#include "agent/daemon/kernel_feed.h"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/agent/host/fake_proc.h"
#include "tests/agent/segment/pack_reading.h"
#include "tests/temp_folder.h"

namespace l4::daemon {
namespace {

using segment::test::packs;
using std::chrono::seconds;

pipeline::Options live_pipeline() {
  pipeline::Options options;
  options.live = true;
  return options;
}

/// Two jobs on one host, of one rank each: process 4711 of job "a" began 50 s after boot, 4712 of
/// job "b" 200 s later.
struct KernelHost {
  l4::test::TempFolder folder;
  std::string kmsg = folder.file("kmsg", "").string();
  host::test::FakeProc fake;
  host::ProcessWatch watch{fake.proc(), {.boot_id_path = fake.file("boot_id").string()}};
  std::vector<wire::Batch> shipped;
  Jobs jobs{
      packs(), live_pipeline(), {}, [this](wire::Batch&& batch) { shipped.push_back(batch); }};
  std::map<std::uint64_t, std::uint64_t> committed;
  KernelFeed feed{{kmsg, "boot", "node-1"},
                  jobs,
                  [this](std::uint64_t key) { return committed[key]; },
                  [](const host::ProcessWatch::Process& process) { return process.fact.job; }};
  unsigned sequence = 100;

  void run(int pid, const std::string& job, int rank, int began_s) {
    const auto log = fake.file(job + ".log");
    fake.set(pid, {.start_ticks = began_s * 100L,
                   .environment = {"RANK=" + std::to_string(rank), "LOCAL_RANK=0",
                                   "TORCHELASTIC_RUN_ID=" + job}});
    fake.open(pid, 1, log);
    watch.add_log({job + ".log", "", host::test::key_of(log)});
  }
  void both() {
    run(4711, "a", 3, 50);
    run(4712, "b", 0, 250);
    watch.poll(at(300));
    for (const char* job : {"a", "b"}) jobs.of(job, Millis{0});
  }
  static host::HostTime at(int boot_s) {
    return {TimeMs{seconds{1'700'000'000 + boot_s}}, seconds{boot_s}};
  }
  void say(int boot_s, const std::string& text) {
    std::ofstream{kmsg, std::ios::app} << "3," << sequence++ << ',' << boot_s << "000000,-;" << text
                                       << '\n';
  }
  /// The messages of a job so far, as "RANK TEXT"; those about the host as "- TEXT".
  std::vector<std::string> heard(const std::string& job, int boot_s) {
    feed.poll(at(boot_s), &watch);
    jobs.flush(Millis{boot_s * 1000L}, true);
    std::map<std::uint32_t, wire::SourceDefinition> sources;
    std::map<std::uint32_t, std::string> texts;
    std::vector<std::string> lines;
    for (const wire::Batch& batch : shipped) {
      if (batch.job != job) continue;
      for (const auto& source : batch.sources) sources[source.id.value()] = source;
      for (const auto& found : batch.templates) texts[found.id.value()] = found.text;
      for (const wire::Segment& segment : batch.segments)
        for (const wire::EventCount& event : segment.events) {
          const auto rank = sources.at(segment.source.value()).rank;
          lines.push_back((rank ? std::to_string(rank->value()) : "-") + " " +
                          texts.at(event.id.value()).substr(0, 13));
        }
    }
    return lines;
  }
  /// The message up to which the job's batches cover the kernel's log.
  std::uint64_t covered(const std::string& job) const {
    std::uint64_t to = 0;
    for (const wire::Batch& batch : shipped)
      for (const wire::Coverage& coverage : batch.coverage)
        if (batch.job == job) to = std::max(to, coverage.bytes.to);
    return to;
  }
};

constexpr const char* kOomOfA = "Out of memory: Killed process 4711 (python3) total-vm:1kB";
constexpr const char* kXid = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.";
using Lines = std::vector<std::string>;

TEST_CASE("kernel feed: a message about a process is its rank's, and no other job's") {
  KernelHost host;
  host.both();
  host.say(310, kOomOfA);
  CHECK(host.heard("a", 311) == Lines{"3 Out of memory"});
  CHECK(host.heard("b", 311).empty());
  CHECK(host.covered("a") == 101);
  CHECK(host.covered("b") == 101);
  CHECK(host.feed.lines() == 1);
}

TEST_CASE("kernel feed: a message about nobody who is watched is evidence for each job here") {
  KernelHost host;
  host.both();
  host.say(310, kXid);
  host.say(310, "Out of memory: Killed process 99 (sshd) total-vm:1kB");
  host.say(310, "usb 1-1: new device");
  for (const char* job : {"a", "b"}) {
    CHECK(host.heard(job, 311) == Lines{"- NVRM: Xid (PC", "- Out of memory"});
    CHECK(host.covered(job) == 103);
  }
}

TEST_CASE("kernel feed: what was said before a job began is not told to it") {
  KernelHost host;
  host.both();
  host.say(100, kXid);
  CHECK(host.heard("a", 301) == Lines{"- NVRM: Xid (PC"});
  CHECK(host.heard("b", 301).empty());
}

TEST_CASE("kernel feed: a job that is known later hears what was said since it began") {
  KernelHost host;
  host.run(4711, "a", 3, 50);
  host.watch.poll(KernelHost::at(300));
  host.jobs.of("a", Millis{0});
  host.say(310, kXid);
  CHECK(host.heard("a", 311).size() == 1);
  host.run(4712, "b", 0, 308);
  host.watch.poll(KernelHost::at(313));
  host.jobs.of("b", Millis{0});
  host.say(314, "Out of memory: Killed process 4712 (python3) total-vm:1kB");
  CHECK(host.heard("b", 314) == Lines{"- NVRM: Xid (PC", "0 Out of memory"});
  CHECK(host.heard("a", 315).size() == 1);  // once
}

TEST_CASE("kernel feed: after a restart it goes on at what is committed") {
  KernelHost host;
  host.both();
  host.say(310, kOomOfA);
  CHECK(host.heard("a", 311).size() == 1);
  for (const wire::Batch& batch : host.shipped)
    for (const wire::Coverage& coverage : batch.coverage)
      host.committed[coverage.file.key] = coverage.bytes.to;
  host.feed.restart();
  host.jobs.restart();
  host.say(312, kXid);
  CHECK(host.heard("a", 313).size() == 2);
  CHECK(host.heard("b", 313).size() == 1);
}

}  // namespace
}  // namespace l4::daemon
