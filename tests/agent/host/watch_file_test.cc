#include "agent/host/watch_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "tests/agent/host/fake_proc.h"

namespace l4::host {
namespace {

using test::FakeProc;
using test::key_of;

/// A host on which two ranks of a job run, and the agents that watch them one after the other.
struct WatchedHost {
  FakeProc fake;
  std::filesystem::path log0 = fake.file("rank0.log"), log1 = fake.file("a b\\c.log");
  std::string kept = fake.root().parent_path() / "processes";
  std::filesystem::path boot_id = fake.file("boot_id");
  HostTime now{TimeMs{Millis{1'700'000'000'000}}, std::chrono::seconds{100}};
  std::unique_ptr<ProcessWatch> watch;

  WatchedHost() {
    boot("first-boot");
    launch(11, 5000, 0);
    start();
    for (const auto& log : {log0, log1}) watch->add_log({log.string(), "n0", key_of(log)});
    after(0);
  }
  void boot(const char* id) const { std::ofstream{boot_id} << id << "\n"; }
  void launch(int first, long ticks, int restart) {
    for (const int rank : {0, 1}) {
      fake.set(first + rank,
               {.start_ticks = ticks + rank,
                .environment = {"RANK=" + std::to_string(rank), "WORLD_SIZE=2",
                                "TORCHELASTIC_RUN_ID=job-1",
                                "TORCHELASTIC_RESTART_COUNT=" + std::to_string(restart)}});
      fake.open(first + rank, 1, rank == 0 ? log0 : log1);
    }
  }
  void start() {
    ProcessWatch::Options options;
    options.self = Pid{1};
    options.boot_id_path = boot_id.string();
    watch = std::make_unique<ProcessWatch>(fake.proc(), options);
  }
  /// Another agent takes over; returns the facts that it reports at once.
  std::vector<ProcessFact> restart() {
    REQUIRE(WatchFile(kept).save(watch->remembered()));
    start();
    now.wall += Millis{3000};
    now.boot += Millis{3000};
    auto loaded = WatchFile(kept).load();
    REQUIRE(loaded);
    CHECK(loaded->damaged == 0);
    watch->resume(std::move(loaded->processes), now);
    return watch->poll(now);
  }
  std::vector<ProcessFact> after(int ms) {
    now.wall += Millis{ms};
    now.boot += Millis{ms};
    return watch->poll(now);
  }
  const ProcessFact& fact(int pid) const {
    const auto* process = watch->find(Pid{pid}, now.boot);
    REQUIRE(process != nullptr);
    return process->fact;
  }
};

TEST_CASE("watched processes: the next agent knows them, and whose logs they write") {
  WatchedHost host;
  const ProcessFact before = host.fact(12);
  const auto told = host.restart();
  REQUIRE(told.size() == 2);
  ProcessFact now = host.fact(12);
  CHECK(now.since > before.since);
  now.since = before.since;
  now.cpu_since = before.cpu_since;
  CHECK(now == before);
  const auto ranks = host.watch->ranks_of(key_of(host.log1));
  REQUIRE(ranks.size() == 1);
  CHECK(ranks[0]->fact.pid == Pid{12});
  CHECK(host.after(1000).empty());
}

TEST_CASE("watched processes: who ended while no agent ran is told, once") {
  WatchedHost host;
  host.fake.remove(11);
  host.fake.set(12, {.state = 'Z', .start_ticks = 5001, .exit_status = 9});
  const auto told = host.restart();
  REQUIRE(told.size() == 2);
  CHECK(told[0].state == ProcessState::gone);
  CHECK(told[0].since == host.now.wall);
  CHECK(told[0].rank == Rank{0});
  CHECK(told[1].exit == Exit{Exit::Kind::signal, 9, Exit::Seen::zombie});
  CHECK(host.watch->facts().size() == 2);
  const auto again = host.restart();  // without an acknowledgement
  REQUIRE(again.size() == 2);
  CHECK(again[0].since == told[0].since);
  host.watch->ack_ends();
  CHECK(host.restart().empty());
  CHECK(host.restart().empty());
  const auto kept = host.watch->facts();
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].state == ProcessState::gone);
  CHECK(kept[0].since == told[0].since);
  CHECK(kept[1].exit == told[1].exit);
  CHECK(host.watch->ranks_of(key_of(host.log0)).size() == 1);  // late lines find the rank
}

TEST_CASE("watched processes: an end is not told again for ever") {
  WatchedHost host;
  host.fake.remove(11);
  CHECK(host.restart().size() == 2);
  host.after(3'590'000);
  CHECK(host.restart().size() == 2);
  host.after(10'000);
  CHECK(host.restart().size() == 1);  // the running process
}

TEST_CASE("watched processes: it is noticed that there is more to keep") {
  WatchedHost host;
  auto before = host.watch->revision();
  const auto changes = [&] { return std::exchange(before, host.watch->revision()) != before; };
  host.after(5'000);
  CHECK_FALSE(changes());
  const auto more = host.fake.file("more.log");
  host.fake.open(11, 2, more);
  host.watch->add_log({more.string(), "n0", key_of(more)});
  host.after(5'000);
  CHECK(host.watch->ranks_of(key_of(more)).size() == 1);
  CHECK(changes());
  host.watch->add_log({more.string() + ".1", "n0", key_of(more)});
  CHECK(changes());
  host.watch->remove_log(key_of(more));
  CHECK(changes());
  host.watch->ack_ends();
  CHECK_FALSE(changes());
  host.fake.remove(12);
  host.after(5'000);
  CHECK(changes());
  host.watch->ack_ends();
  CHECK(changes());
}

TEST_CASE("watched processes: a number that was given again has ended") {
  WatchedHost host;
  host.fake.remove(11);
  host.fake.set(11, {.command = "cron", .start_ticks = 9000});
  const auto told = host.restart();
  REQUIRE(told.size() == 2);
  CHECK(told[0].state == ProcessState::gone);
  CHECK(told[1].state == ProcessState::sleeping);
}

TEST_CASE("watched processes: a job that starts again after that is at its next attempt") {
  WatchedHost host;
  for (const int restart : {1, 2}) {
    host.fake.remove(10 * restart + 1);
    host.fake.remove(10 * restart + 2);
    host.restart();
    host.launch(10 * restart + 11, host.now.boot / Millis{10}, 0);
    host.watch->ask_scan();
    host.after(1000);
    CHECK(host.fact(10 * restart + 11).attempt == restart);
    CHECK(host.fact(10 * restart + 12).attempt == restart);
    CHECK(host.watch->facts().front().attempt == 0);
  }
}

TEST_CASE("watched processes: nothing is taken from another boot") {
  WatchedHost host;
  host.boot("second-boot");
  CHECK(host.restart().empty());
  CHECK(host.watch->facts().empty());
}

TEST_CASE("watched processes: what is damaged is left out, the rest is used") {
  WatchedHost host;
  REQUIRE(WatchFile(host.kept).save(host.watch->remembered()));
  std::ifstream in(host.kept, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bad = whole;
    bad[at] = bad[at] == 'x' ? 'y' : 'x';
    std::ofstream{host.kept, std::ios::binary} << bad;
    const auto loaded = WatchFile(host.kept).load();
    REQUIRE(loaded);
    CHECK(loaded->processes.size() >= 1);
    for (const auto& one : loaded->processes) {
      const auto all = host.watch->remembered();
      const auto same = std::ranges::find_if(
          all, [&](const auto& other) { return other.fact.pid == one.fact.pid; });
      REQUIRE(same != all.end());
      CHECK(one.fact.rank == same->fact.rank);
      CHECK(one.logs.size() <= 1);
      if (!one.logs.empty()) CHECK(one.logs[0].path == same->logs[0].path);
    }
  }
}

}  // namespace
}  // namespace l4::host
