#include "agent/host/proc.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "tests/agent/host/fake_proc.h"

namespace l4::host {
namespace {

using test::FakeProc;

TEST_CASE("proc: a stat line is read whatever the process is called") {
  FakeProc fake;
  fake.set(42,
           {.parent = 7, .command = "a) S (b", .state = 'D', .start_ticks = 250, .cpu_ticks = 30});
  const auto stat = fake.proc().stat(Pid{42});
  REQUIRE(stat);
  CHECK(stat->pid == Pid{42});
  CHECK(stat->parent == Pid{7});
  CHECK(stat->command == "a) S (b");
  CHECK(stat->state == ProcessState::uninterruptible);
  CHECK(stat->started == SinceBoot{2'500'000});
  CHECK(stat->cpu == Millis{300});
}

TEST_CASE("proc: what is no stat line is refused") {
  for (const char* line :
       {"", "1", "1 (x", "1 (x) S", "x (x) S 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 5",
        "1 (x) S 1 1 1 0 -1 0 0 0 0 0 -4 1 0 0 20 0 1 0 5",
        "1 (x) S 1 1 1 0 -1 0 0 0 0 0 1 99999999999999999999 0 0 20 0 1 0 5", ") 1 ("})
    CHECK_FALSE(parse_stat(line));
  CHECK(parse_stat("1 (x) S 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 5"));
}

TEST_CASE("proc: gone is told from broken") {
  FakeProc fake;
  CHECK(fake.proc().stat(Pid{9}).error() == Unseen::gone);
  fake.set(9, {});
  fake.write(9, "stat", "nonsense");
  CHECK(fake.proc().stat(Pid{9}).error() == Unseen::failed);
  CHECK(fake.proc().open_files(Pid{10}, [](const OpenFile&) { return true; }).error() ==
        Unseen::gone);
}

TEST_CASE("proc: numbers are processes, other entries are not") {
  FakeProc fake;
  fake.set(20, {});
  fake.set(3, {});
  std::filesystem::create_directories(fake.root() / "sys");
  std::filesystem::create_directories(fake.root() / "99999999999");
  const auto pids = fake.proc().pids();
  REQUIRE(pids);
  CHECK(*pids == std::vector<Pid>{Pid{3}, Pid{20}});
  CHECK_FALSE(Proc{fake.root() / "missing"}.pids());
}

TEST_CASE("proc: open files by device and inode, with how they were opened") {
  FakeProc fake;
  const auto log = fake.file("rank0.log");
  fake.set(5, {});
  fake.open(5, 1, log, "0102001");
  fake.open(5, 3, fake.fifo("pipe"), "00");
  fake.open(5, 4, "/nowhere/at/all");
  std::vector<OpenFile> found;
  const auto looked = fake.proc().open_files(Pid{5}, [&](const OpenFile& file) {
    found.push_back(file);
    return true;
  });
  CHECK(looked == 3U);
  REQUIRE(found.size() == 2);
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.descriptor < b.descriptor; });
  CHECK(found[0].key == test::key_of(log));
  CHECK_FALSE(found[0].fifo);
  CHECK(found[1].fifo);
  CHECK(fake.proc().access_mode(Pid{5}, 1) == 1);
  CHECK(fake.proc().access_mode(Pid{5}, 3) == 0);
  CHECK(fake.proc().access_mode(Pid{5}, 77) == -1);
}

TEST_CASE("proc: this process, as the kernel tells it") {
  const Proc proc;
  CHECK(proc.real());
  const auto stat = proc.stat(Pid{::getpid()});
  REQUIRE(stat);
  CHECK(stat->parent == Pid{::getppid()});
  CHECK(stat->state == ProcessState::running);
  CHECK(stat->started < host_time().boot);
}

TEST_CASE("facts: an exit in words") {
  CHECK(text(Exit{Exit::Kind::code, 3, Exit::Seen::zombie}) == "exit code 3");
  CHECK(text(Exit{Exit::Kind::signal, 9, Exit::Seen::child}) == "signal 9 (SIGKILL)");
  CHECK(text(Exit{}) == "exit status not visible: not a child of the agent");
  CHECK(letter(ProcessState::uninterruptible) == 'D');
}

TEST_CASE("host time: a moment since boot on the wall clock as it stands") {
  const HostTime now{TimeMs{Millis{1'000'000}}, SinceBoot{50'000'000}};
  CHECK(wall_of(SinceBoot{49'999'000}, now) == TimeMs{Millis{999'999}});
  CHECK(wall_of(SinceBoot{0}, now) == TimeMs{Millis{950'000}});
}

}  // namespace
}  // namespace l4::host
