// The owner of a log whose file was written before by an attempt, or a job, that is over.
#include "agent/daemon/owners.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/agent/host/fake_proc.h"

namespace l4::daemon {
namespace {

using host::test::key_of;
using std::chrono::seconds;

struct OwnedHost {
  host::test::FakeProc fake;
  const std::filesystem::path log = fake.file("logs/train.log");
  host::HostTime now{TimeMs{Millis{1'700'000'000'000}}, seconds{1000}};
  host::ProcessWatch watch{fake.proc(), {.boot_id_path = boot_id()}};
  Owners owners{{"", "", "node-1"}, &watch};

  std::string boot_id() {
    const auto path = fake.file("boot_id").string();
    std::ofstream{path} << "0f0f-boot\n";
    return path;
  }
  void run(int pid, const std::string& job, int rank, int requeue = 0,
           const std::filesystem::path& file = {}) {
    const auto& to = file.empty() ? log : file;
    fake.set(pid, {.start_ticks = 90'000 + pid,
                   .environment = {"SLURM_JOB_ID=" + job, "SLURM_STEP_ID=0",
                                   "SLURM_PROCID=" + std::to_string(rank),
                                   "SLURM_RESTART_COUNT=" + std::to_string(requeue)}});
    fake.open(pid, 1, to);
    watch.add_log({to.string(), "", key_of(to)});
    watch.ask_scan();
    look();
  }
  void end(int pid) {
    fake.remove(pid);
    look();
  }
  void look() {
    now.wall += Millis{2'000};
    now.boot += Millis{2'000};
    watch.poll(now);
  }
  Owner of(const std::filesystem::path& path) const {
    return owners.of(path.string(), path.parent_path().string(), key_of(path));
  }
};

TEST_CASE("owners: a file that a rank writes again is that rank's") {
  OwnedHost host;
  host.run(101, "7", 3);
  host.end(101);
  host.run(102, "7", 3, 1);
  const Owner owner = host.of(host.log);
  CHECK(owner.job == "7");
  CHECK(owner.facts.rank == Rank{3});
  // The first run began in attempt 0; the lines show the second run.
  CHECK(owner.facts.attempt == 0);
}

TEST_CASE("owners: a launcher's log far from its ranks is of the job that they name") {
  OwnedHost host;
  const auto far = host.fake.file("far/launcher.log");
  host.fake.set(90, {.command = "bash", .start_ticks = 80'000, .command_line = {"bash", "run.sh"}});
  host.fake.open(90, 1, far);
  host.watch.add_log({far.string(), "", key_of(far)});
  CHECK_FALSE(host.of(far).named);
  host.fake.set(101, {.parent = 90,
                      .start_ticks = 90'101,
                      .environment = {"SLURM_JOB_ID=7", "SLURM_STEP_ID=0", "SLURM_PROCID=3"}});
  host.fake.open(101, 1, host.log);
  host.watch.add_log({host.log.string(), "", key_of(host.log)});
  host.watch.ask_scan();
  host.look();
  const Owner owner = host.of(far);
  CHECK(owner.named);
  CHECK(owner.job == "7");
  CHECK_FALSE(owner.by_process);
  CHECK_FALSE(owner.facts.rank);
}

TEST_CASE("owners: a file that the next job writes again is the next job's") {
  OwnedHost host;
  host.run(101, "7", 3);
  host.end(101);
  CHECK(host.of(host.log).job == "7");
  host.run(102, "8", 0);
  const Owner owner = host.of(host.log);
  CHECK(owner.job == "8");
  CHECK(owner.facts.rank == Rank{0});
  CHECK(owner.facts.attempt == 0);
  CHECK(host.owners.living_job(key_of(host.log)) == "8");
}

TEST_CASE("owners: several processes of one rank are that rank, ranks of one start are several") {
  OwnedHost host;
  host.run(101, "7", 3);
  host.run(102, "7", 3);
  CHECK(host.of(host.log).facts.rank == Rank{3});
  host.run(103, "7", 4);
  CHECK_FALSE(host.of(host.log).facts.rank);
  host.end(103);  // the file still holds its lines
  CHECK_FALSE(host.of(host.log).facts.rank);
}

TEST_CASE("owners: who is gone counts after a look at those that live") {
  OwnedHost host;
  host.run(101, "7", 3);
  host.end(101);
  auto remembered = host.watch.remembered();
  REQUIRE(remembered.size() == 1);
  for (const bool again : {false, true}) {
    CAPTURE(again);
    if (again) {
      host.fake.set(102, {.start_ticks = 95'000,
                          .environment = {"SLURM_JOB_ID=8", "SLURM_STEP_ID=0", "SLURM_PROCID=0"}});
      host.fake.open(102, 1, host.log);
    }
    host::ProcessWatch next{host.fake.proc(), {.boot_id_path = host.boot_id()}};
    next.resume(remembered, host.now);
    const Owners owners{{"", "", "node-1"}, &next};
    CHECK_FALSE(owners.knows(key_of(host.log)));
    host.now.boot += seconds{2};
    next.poll(host.now);
    CHECK(owners.knows(key_of(host.log)));
    const Owner owner = owners.of(host.log.string(), "", key_of(host.log));
    CHECK(owner.job == (again ? "8" : "7"));
  }
}

TEST_CASE("owners: a new file of a requeued job is of another attempt, one of torchrun's its own") {
  OwnedHost host;
  host.run(101, "7", 3);
  CHECK(host.of(host.log).facts.attempt == 0);
  host.end(101);
  const auto next = host.fake.file("logs/train-again.log");
  host.run(102, "7", 3, 1, next);
  CHECK(host.of(next).facts.attempt == 1);
  // A node that did not see the first attempt.
  OwnedHost fresh;
  fresh.run(102, "7", 4, 1);
  CHECK(fresh.of(fresh.log).facts.attempt == 1);
  // The folder's attempt number is the launcher's count.
  OwnedHost torch;
  const auto file = torch.fake.file("logs/run_x/attempt_1/0/stdout.log");
  torch.fake.set(11, {.start_ticks = 90'000,
                      .environment = {"RANK=0", "LOCAL_RANK=0", "WORLD_SIZE=2",
                                      "TORCHELASTIC_RUN_ID=run", "TORCHELASTIC_RESTART_COUNT=1"}});
  torch.fake.open(11, 1, file);
  torch.watch.add_log({file.string(), "", key_of(file)});
  torch.look();
  CHECK(torch.of(file).facts.rank == Rank{0});
  CHECK(torch.of(file).facts.attempt == 1);
}

TEST_CASE("owners: a configured rank is that of logs for which neither process nor path has one") {
  const Owners owners({"", "", "node-1", Rank{6}, 2}, nullptr);
  const Owner own = owners.of("/logs/job-1/train.log", "/logs", {});
  CHECK(own.facts.rank == Rank{6});
  CHECK(own.facts.local_rank == 2);
  CHECK(own.facts.kind == wire::SourceKind::rank);
  const Owner by_path = owners.of("/logs/job-1/rank3.log", "/logs", {});
  CHECK(by_path.facts.rank == Rank{3});
  const Owner launcher = owners.of("/logs/job-1/node-1/agent.log", "/logs", {});
  CHECK(launcher.facts.kind == wire::SourceKind::launcher);
  CHECK_FALSE(launcher.facts.rank);
}

TEST_CASE("owners: without a configured rank a log that names none has none") {
  const Owners owners({"", "", "node-1"}, nullptr);
  const Owner own = owners.of("/logs/job-1/train.log", "/logs", {});
  CHECK_FALSE(own.facts.rank);
  CHECK(own.facts.kind == wire::SourceKind::other);
}

}  // namespace
}  // namespace l4::daemon
