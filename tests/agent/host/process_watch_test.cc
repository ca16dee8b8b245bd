#include "agent/host/process_watch.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

#include "tests/agent/host/fake_proc.h"

namespace l4::host {
namespace {

using test::FakeProc;
using test::FakeProcess;
using test::key_of;

std::vector<std::string> rank_environment(int rank, int restart = 0) {
  return {"RANK=" + std::to_string(rank), "LOCAL_RANK=" + std::to_string(rank % 2), "WORLD_SIZE=4",
          "TORCHELASTIC_RUN_ID=job-1", "TORCHELASTIC_RESTART_COUNT=" + std::to_string(restart)};
}

/// A host on which torchrun (10) runs ranks 0 and 1 (11, 12) of node n0.
struct Lab {
  FakeProc fake;
  std::filesystem::path log0 = fake.file("n0/rank0.log"), log1 = fake.file("n0/rank1.log");
  HostTime now{TimeMs{Millis{1'700'000'000'000}}, std::chrono::seconds{100}};
  ProcessWatch watch{fake.proc(), options()};

  ProcessWatch::Options options() {
    ProcessWatch::Options options;
    options.self = Pid{1};
    options.boot_id_path = fake.file("boot_id").string();
    std::ofstream{options.boot_id_path} << "0f0f-boot\n";
    options.gone_max = 4;
    return options;
  }
  void add_logs() {
    watch.add_log({"n0/rank0.log", "n0", key_of(log0)});
    watch.add_log({"n0/rank1.log", "n0", key_of(log1)});
  }
  void launch(int restart = 0, int first = 11, long ticks = 5000) {
    fake.set(10, {.command = "torchrun", .start_ticks = 4000, .command_line = {"torchrun"}});
    fake.open(10, 5, log0);
    fake.open(10, 6, log1);
    for (const int rank : {0, 1}) {
      fake.set(first + rank, {.parent = 10,
                              .start_ticks = ticks + rank,
                              .environment = rank_environment(rank, restart)});
      fake.open(first + rank, 1, rank == 0 ? log0 : log1);
    }
  }
  std::vector<ProcessFact> after(int ms) {
    now.wall += Millis{ms};
    now.boot += Millis{ms};
    return watch.poll(now);
  }
  static const ProcessFact* of(const std::vector<ProcessFact>& facts, int pid) {
    const auto found = std::find_if(facts.begin(), facts.end(),
                                    [&](const auto& fact) { return fact.pid == Pid{pid}; });
    return found == facts.end() ? nullptr : &*found;
  }
};

TEST_CASE("process watch: ranks, launcher, node and identity of a torchrun host") {
  Lab lab;
  lab.launch();
  lab.add_logs();
  const auto facts = lab.after(0);
  REQUIRE(facts.size() == 3);
  CHECK(facts[0].part == Part::launcher);
  CHECK_FALSE(facts[0].rank);
  const ProcessFact& rank1 = facts[2];
  CHECK(rank1.part == Part::rank);
  CHECK(rank1.rank == Rank{1});
  CHECK(rank1.rank_source == RankSource::env);
  CHECK(rank1.local_rank == 1);
  CHECK(rank1.world_size == 4);
  CHECK(rank1.job == "job-1");
  CHECK(rank1.node == "n0");
  CHECK(rank1.boot_id == "0f0f-boot");
  CHECK(rank1.started_boot == SinceBoot{50'010'000});
  CHECK(rank1.started == lab.now.wall - Millis{49'990});
  CHECK(rank1.state == ProcessState::sleeping);
  CHECK(lab.after(1000).empty());
  const auto ranks = lab.watch.ranks_of(key_of(lab.log1));
  REQUIRE(ranks.size() == 1);
  CHECK(ranks[0]->fact.pid == Pid{12});
  CHECK(lab.watch.began("job-1") == SinceBoot{50'000'000});
  CHECK(lab.watch.facts().size() == 3);
}

TEST_CASE("process watch: stopped, traced and going on, with the time of each") {
  Lab lab;
  lab.launch();
  lab.add_logs();
  lab.after(0);
  lab.fake.set(11, {.parent = 10, .state = 'T', .start_ticks = 5000});
  auto facts = lab.after(1000);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].state == ProcessState::stopped);
  CHECK(facts[0].since == lab.now.wall);
  const TimeMs stopped = lab.now.wall;
  CHECK(lab.after(1000).empty());
  CHECK(Lab::of(lab.watch.facts(), 11)->since == stopped);
  lab.fake.set(11, {.parent = 10, .state = 't', .start_ticks = 5000});
  CHECK(lab.after(1000).at(0).state == ProcessState::traced);
  lab.fake.set(11, {.parent = 10, .state = 'R', .start_ticks = 5000});
  CHECK(lab.after(1000).at(0).state == ProcessState::running);
  lab.fake.set(11, {.parent = 10, .state = 'S', .start_ticks = 5000});
  CHECK(lab.after(1000).empty());  // a change between running and sleeping is not reported
}

TEST_CASE("process watch: who runs between two looks is not stopped, however often it is seen so") {
  Lab lab;
  lab.launch();
  lab.add_logs();
  lab.after(0);
  for (int look = 1; look < 6; ++look) {
    lab.fake.set(11, {.parent = 10, .state = 'T', .start_ticks = 5000, .cpu_ticks = 10L * look});
    CHECK(lab.after(1000).empty());
  }
  const TimeMs last = lab.now.wall;
  const auto facts = lab.after(1000);  // still stopped, and no CPU was spent
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].state == ProcessState::stopped);
  CHECK(facts[0].since == last);
  lab.fake.set(11, {.parent = 10, .state = 'T', .start_ticks = 5000, .cpu_ticks = 70});
  CHECK(lab.after(1000).at(0).state == ProcessState::sleeping);
  CHECK(lab.after(1000).at(0).state == ProcessState::stopped);
}

TEST_CASE("process watch: a wait for a device counts when it lasts, from when it was first seen") {
  Lab lab;
  lab.launch();
  lab.add_logs();
  lab.after(0);
  lab.fake.set(12, {.parent = 10, .state = 'D', .start_ticks = 5001});
  CHECK(lab.after(1000).empty());
  const TimeMs first = lab.now.wall;
  lab.fake.set(12, {.parent = 10, .state = 'S', .start_ticks = 5001});
  CHECK(lab.after(1000).empty());
  lab.fake.set(12, {.parent = 10, .state = 'D', .start_ticks = 5001});
  CHECK(lab.after(1000).empty());
  const auto facts = lab.after(1000);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].state == ProcessState::uninterruptible);
  CHECK(facts[0].since == first + Millis{2000});
}

TEST_CASE("process watch: CPU time that stands still is dated") {
  Lab lab;
  lab.launch();
  lab.add_logs();
  lab.after(0);
  lab.fake.set(11, {.parent = 10, .state = 'R', .start_ticks = 5000, .cpu_ticks = 200});
  lab.after(1000);
  const TimeMs spent = lab.now.wall;
  lab.after(5000);
  const ProcessFact fact = *Lab::of(lab.watch.facts(), 11);
  CHECK(fact.cpu == Millis{2000});
  CHECK(fact.cpu_since == spent);
}

TEST_CASE("process watch: a zombie tells how it ended, one that vanished does not") {
  Lab lab;
  lab.launch();
  lab.add_logs();
  lab.after(0);
  lab.fake.set(11, {.parent = 10, .state = 'Z', .start_ticks = 5000, .exit_status = 9});
  lab.fake.remove(12);
  const auto facts = lab.after(1000);
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].state == ProcessState::gone);
  CHECK(facts[0].exit == Exit{Exit::Kind::signal, 9, Exit::Seen::zombie});
  CHECK(facts[0].rank == Rank{0});
  CHECK(facts[1].state == ProcessState::gone);
  CHECK(facts[1].exit.kind == Exit::Kind::unseen);
  CHECK(facts[1].since == lab.now.wall);
  CHECK(lab.watch.stats().exits == 2);
  CHECK(lab.after(1000).empty());
}

TEST_CASE("process watch: a number that was given again is another process") {
  Lab lab;
  lab.launch();
  lab.add_logs();
  lab.after(0);
  lab.fake.set(11, {.parent = 1, .command = "cron", .start_ticks = 9000});
  const auto facts = lab.after(1000);
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].state == ProcessState::gone);
  CHECK(facts[0].exit.kind == Exit::Kind::unseen);
  CHECK(lab.watch.find(Pid{11}, SinceBoot{60'000'000})->fact.rank == Rank{0});
  CHECK(lab.watch.find(Pid{11}, SinceBoot{20'000'000}) == nullptr);   // before its start
  CHECK(lab.watch.find(Pid{11}, SinceBoot{110'000'000}) == nullptr);  // after its exit
  CHECK(lab.watch.find(Pid{77}, SinceBoot{60'000'000}) == nullptr);
}

TEST_CASE("process watch: a restart in the same files is a new attempt") {
  Lab lab;
  lab.launch();
  lab.add_logs();
  lab.after(0);
  lab.fake.remove(11);
  lab.fake.remove(12);
  lab.after(1000);
  lab.launch(1, 21, 10500);
  const auto facts = lab.after(1000);  // the exits asked for a scan
  REQUIRE(Lab::of(facts, 21) != nullptr);
  CHECK(Lab::of(facts, 21)->attempt == 1);
  CHECK(Lab::of(facts, 22)->attempt == 1);
  CHECK(Lab::of(lab.watch.facts(), 11)->attempt == 0);
}

TEST_CASE("process watch: what helped a rank that is gone does not take its place") {
  Lab lab;
  lab.launch();
  const auto worker = [&](int pid, int parent) {
    lab.fake.set(pid, {.parent = parent, .start_ticks = 6000, .environment = rank_environment(0)});
    lab.fake.open(pid, 1, lab.log0);
  };
  worker(13, 11);
  lab.add_logs();
  CHECK(Lab::of(lab.after(0), 13)->part == Part::helper);
  lab.fake.remove(11);
  worker(13, 1);
  worker(14, 1);  // a new process
  lab.after(1000);
  const auto facts = lab.after(1000);
  CHECK(Lab::of(facts, 14)->part == Part::helper);
  CHECK(Lab::of(lab.watch.facts(), 13)->part == Part::helper);
  CHECK(Lab::of(lab.watch.facts(), 13)->attempt == 0);
  CHECK(lab.watch.flush_notices().empty());
  CHECK(lab.watch.find(Pid{13}, SinceBoot{70'000'000})->fact.rank == Rank{0});
}

TEST_CASE("process watch: a launcher that closed the files of its ranks keeps its job") {
  Lab lab;
  const auto own = lab.fake.file("n0/agent.log");
  const auto log = lab.fake.file("n0/job-1_abcd1234/attempt_0/0/stdout.log");
  lab.fake.set(10, {.command = "torchrun", .start_ticks = 4000, .command_line = {"torchrun"}});
  lab.fake.open(10, 1, own);
  lab.fake.open(10, 5, log);
  lab.watch.add_log({"n0/agent.log", "n0", key_of(own)});
  lab.watch.add_log({"n0/job-1_abcd1234/attempt_0/0/stdout.log", "n0", key_of(log)});
  CHECK(Lab::of(lab.after(0), 10)->job == "job-1");
  lab.fake.remove(10);
  lab.fake.set(10, {.command = "torchrun", .start_ticks = 4000, .command_line = {"torchrun"}});
  lab.fake.open(10, 1, own);
  lab.watch.ask_scan();
  lab.after(1000);
  CHECK(lab.watch.facts().at(0).job == "job-1");
}

TEST_CASE("process watch: a launcher knows the job that all ranks below it name") {
  Lab lab;
  lab.launch();
  const auto one = lab.fake.file("far/one.log"), two = lab.fake.file("far/two.log");
  const auto other = lab.fake.file("n0/other.log");
  lab.fake.set(4, {.command = "bash", .start_ticks = 2000, .command_line = {"bash", "all.sh"}});
  lab.fake.set(
      5, {.parent = 4, .command = "bash", .start_ticks = 3000, .command_line = {"bash", "run.sh"}});
  lab.fake.set(
      10, {.parent = 5, .command = "torchrun", .start_ticks = 4000, .command_line = {"torchrun"}});
  auto environment = rank_environment(1);
  environment[3] = "TORCHELASTIC_RUN_ID=job-2";
  lab.fake.set(21, {.parent = 4, .start_ticks = 6000, .environment = environment});
  lab.fake.open(4, 1, two);
  lab.fake.open(5, 1, one);
  lab.fake.open(21, 1, other);
  lab.add_logs();
  lab.watch.add_log({"far/one.log", "n0", key_of(one)});
  lab.watch.add_log({"far/two.log", "n0", key_of(two)});
  lab.watch.add_log({"n0/other.log", "n0", key_of(other)});
  const auto facts = lab.after(0);
  for (const int launcher : {4, 5, 10}) {
    REQUIRE(Lab::of(facts, launcher) != nullptr);
    CHECK(Lab::of(facts, launcher)->part == Part::launcher);
  }
  const auto job_of = [&](const std::filesystem::path& log) {
    return lab.watch.writers_of(key_of(log)).at(0)->ranks_job;
  };
  CHECK(job_of(one) == "job-1");
  CHECK(job_of(two).empty());
  CHECK(Lab::of(facts, 5)->job.empty());  // it may go on with another job
}

TEST_CASE("process watch: one restart is one attempt, whichever node's launcher counts it") {
  Lab lab;
  lab.watch.add_log({"n0/rank0.log", "n0", key_of(lab.log0)});
  lab.watch.add_log({"n1/rank1.log", "n1", key_of(lab.log1)});
  lab.launch();
  lab.fake.remove(10);
  lab.after(0);
  lab.fake.remove(11);
  lab.fake.remove(12);
  lab.after(1000);
  lab.launch(0, 21, 10500);
  lab.fake.set(22, {.parent = 10, .start_ticks = 10500, .environment = rank_environment(1, 1)});
  lab.fake.remove(10);
  const auto facts = lab.after(1000);
  CHECK(Lab::of(facts, 21)->attempt == 1);
  CHECK(Lab::of(facts, 22)->attempt == 1);
}

TEST_CASE(
    "process watch: /proc is scanned when asked, again while a file has no rank, not for ever") {
  Lab lab;
  CHECK(lab.after(0).empty());
  CHECK(lab.watch.stats().scans == 0);
  lab.add_logs();
  lab.after(0);
  CHECK(lab.watch.stats().scans == 1);
  lab.after(400);  // too soon
  CHECK(lab.watch.stats().scans == 1);
  for (int i = 0; i < 300; ++i) lab.after(1000);
  CHECK(lab.watch.stats().scans == 7);
  lab.launch();
  lab.after(1000);
  CHECK(lab.watch.stats().scans == 7);
  lab.watch.ask_scan();
  CHECK(lab.after(1000).size() == 3);
  for (int i = 0; i < 300; ++i) lab.after(1000);
  CHECK(lab.watch.stats().scans == 8);
}

TEST_CASE("process watch: met between fork and exec, it is who it becomes") {
  Lab lab;
  lab.launch();
  lab.fake.set(11, {.parent = 10, .command = "torchrun", .start_ticks = 9990});
  lab.add_logs();
  auto facts = lab.after(0);
  CHECK(Lab::of(facts, 11)->rank_source == RankSource::derived);  // the file's name
  lab.fake.set(11, {.parent = 10, .start_ticks = 9990, .environment = rank_environment(0)});
  lab.after(1000);
  facts = lab.after(1000);
  CHECK(Lab::of(lab.watch.facts(), 11)->part == Part::rank);
  CHECK(Lab::of(lab.watch.facts(), 11)->rank_source == RankSource::env);
  CHECK(Lab::of(lab.watch.facts(), 11)->job == "job-1");
}

TEST_CASE("process watch: a young process beside a rank is looked at again") {
  Lab lab;
  lab.launch();
  lab.fake.set(12, {.parent = 10, .start_ticks = 9990});  // no environment yet
  const auto both = lab.fake.file("n0/train.log");
  lab.fake.open(11, 1, both);
  lab.fake.open(12, 1, both);
  lab.watch.add_log({"n0/train.log", "n0", key_of(both)});
  lab.after(0);
  CHECK(lab.watch.ranks_of(key_of(both)).size() == 1);
  lab.fake.set(12, {.parent = 10, .start_ticks = 9990, .environment = rank_environment(1)});
  lab.after(1000);
  CHECK(lab.watch.ranks_of(key_of(both)).size() == 2);
}

TEST_CASE("process watch: a node is that of the files; two nodes at once are said") {
  Lab lab;
  lab.launch();
  lab.watch.add_log({"n0/rank0.log", "n0", key_of(lab.log0)});
  lab.watch.add_log({"n1/rank1.log", "n1", key_of(lab.log1)});
  const auto facts = lab.after(0);
  CHECK(Lab::of(facts, 11)->node == "n0");
  CHECK(Lab::of(facts, 12)->node == "n1");
  const auto notices = lab.watch.flush_notices();
  REQUIRE(notices.size() == 1);  // one notice, because torchrun holds the files of both nodes
  CHECK(notices[0].kind == "nodes");
  CHECK(lab.watch.flush_notices().empty());
}

TEST_CASE("process watch: two living processes of one rank are said once") {
  Lab lab;
  lab.launch();
  lab.fake.set(15, {.parent = 1, .start_ticks = 6000, .environment = rank_environment(0)});
  lab.fake.open(15, 1, lab.log0);
  lab.add_logs();
  lab.after(0);
  const auto notices = lab.watch.flush_notices();
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].kind == "rank_double");
  CHECK(lab.watch.ranks_of(key_of(lab.log0)).size() == 2);
}

TEST_CASE("process watch: what is gone is kept, so many of it") {
  Lab lab;
  ProcessWatch::Options options = lab.options();
  options.processes_max = 2;
  options.gone_max = 3;
  ProcessWatch watch{lab.fake.proc(), options};
  watch.add_log({"n0/rank0.log", "n0", key_of(lab.log0)});
  for (int round = 0; round < 12; ++round) {
    const int pid = 100 + round;
    lab.fake.set(pid, {.start_ticks = 1000 + round, .environment = rank_environment(0)});
    lab.fake.open(pid, 1, lab.log0);
    lab.now.boot += std::chrono::seconds{2};
    watch.ask_scan();
    watch.poll(lab.now);
    lab.fake.remove(pid);
    lab.now.boot += std::chrono::seconds{2};
    watch.poll(lab.now);
  }
  CHECK(watch.facts().size() == 5);
  CHECK(watch.stats().gone_forgotten == 7);
  CHECK(watch.facts().back().pid == Pid{111});
}

TEST_CASE("process watch: more logs and processes than there is room for are said") {
  Lab lab;
  ProcessWatch::Options options = lab.options();
  options.logs_max = 1;
  options.processes_max = 1;
  ProcessWatch watch{lab.fake.proc(), options};
  lab.launch();
  CHECK(watch.add_log({"n0/rank0.log", "n0", key_of(lab.log0)}));
  CHECK_FALSE(watch.add_log({"n0/rank1.log", "n0", key_of(lab.log1)}));
  CHECK(watch.add_log({"n0/rank0.log.1", "n0", key_of(lab.log0)}));  // renamed
  watch.poll(lab.now);
  CHECK(watch.facts().size() == 1);
  CHECK(watch.stats().logs_refused == 1);
  CHECK(watch.flush_notices().size() == 2);
}

TEST_CASE("process watch: without permission it says so once and takes paths") {
  if (::geteuid() != 0) return;  // only root can become a user without permission
  Lab lab;
  lab.launch();
  namespace fs = std::filesystem;
  for (const int pid : {11, 12}) fs::permissions(lab.fake.folder(pid) / "environ", fs::perms::none);
  fs::permissions(lab.fake.root().parent_path(), fs::perms::all);
  lab.add_logs();
  REQUIRE(::seteuid(65534) == 0);
  const auto facts = lab.after(0);
  lab.watch.ask_scan();
  lab.after(1000);
  REQUIRE(::seteuid(0) == 0);
  REQUIRE(Lab::of(facts, 11) != nullptr);
  CHECK(Lab::of(facts, 11)->rank == Rank{0});
  CHECK(Lab::of(facts, 11)->rank_source == RankSource::derived);
  CHECK(Lab::of(facts, 10)->part == Part::launcher);
  const auto notices = lab.watch.flush_notices();
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].kind == "environment_denied");
}

TEST_CASE(
    "process watch: processes that may not be looked into are said once, if they are missed") {
  if (::geteuid() != 0) return;  // only root can become a user without permission
  Lab lab;
  lab.launch();
  namespace fs = std::filesystem;
  for (const int pid : {10, 11, 12}) fs::permissions(lab.fake.folder(pid) / "fd", fs::perms::none);
  fs::permissions(lab.fake.root().parent_path(), fs::perms::all);
  lab.add_logs();
  REQUIRE(::seteuid(65534) == 0);
  CHECK(lab.after(0).empty());
  lab.after(2000);
  REQUIRE(::seteuid(0) == 0);
  const auto notices = lab.watch.flush_notices();
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].kind == "processes_denied");
  CHECK(lab.watch.stats().last_scan.denied == 3);
}

TEST_CASE("process watch: no /proc at all") {
  ProcessWatch watch{Proc{"/nowhere/at/all"}, {.boot_id_path = "/nowhere/boot_id"}};
  watch.add_log({"x", "n", {1, 2}});
  CHECK(watch.poll({TimeMs{}, SinceBoot{1}}).empty());
  CHECK(watch.boot_id().empty());
  CHECK(watch.descriptor() == -1);
}

}  // namespace
}  // namespace l4::host
