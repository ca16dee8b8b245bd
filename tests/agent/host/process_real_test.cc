// The watch over real processes, real pipes and the kernel's own /proc.
#include <doctest/doctest.h>
#include <fcntl.h>

#include <algorithm>

#include "agent/host/process_watch.h"
#include "tests/agent/host/fake_proc.h"
#include "tests/agent/host/real_process.h"

namespace l4::host {
namespace {

using test::Child;
using test::key_of;
using test::Pipe;

std::vector<std::string> torch(int rank) {
  return {"RANK=" + std::to_string(rank),
          "LOCAL_RANK=" + std::to_string(rank),
          "WORLD_SIZE=2",
          "TORCHELASTIC_RUN_ID=real",
          "SECRET_TOKEN=1",
          "PATH=/usr/bin:/bin"};
}

/// A log file, open for the processes that are started on it.
struct Log {
  explicit Log(const std::filesystem::path& where) : path(where) {
    fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    key = key_of(path);
  }
  ~Log() { ::close(fd); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  std::filesystem::path path;
  FileKey key;
  int fd = -1;
};

struct Bench {
  l4::test::TempFolder folder;
  ProcessWatch watch{Proc{}, options()};
  SinceBoot later{0};

  static ProcessWatch::Options options() {
    ProcessWatch::Options options;
    options.self = Pid{::getpid()};
    options.descriptors_per_poll = 1'000'000'000;
    return options;
  }
  std::vector<ProcessFact> poll() {
    HostTime now = host_time();
    later += std::chrono::seconds{10};  // past all that is due
    now.boot += later;
    return watch.poll(now);
  }
  const ProcessFact* fact(pid_t pid) {
    facts = watch.facts();
    for (const ProcessFact& one : facts)
      if (one.pid == Pid{pid}) return &one;
    return nullptr;
  }
  std::vector<ProcessFact> facts;
};

TEST_CASE("real processes: who writes, who they are, also after the file was deleted") {
  Bench bench;
  Log log0{bench.folder.path() / "rank0.log"}, log1{bench.folder.path() / "rank1.log"};
  Child rank0{{.words = {"sleep", "600"}, .environment = torch(0), .out = log0.fd}};
  Child rank1{{.words = {"sleep", "600"}, .environment = torch(1), .out = log1.fd}};
  Child reader{{.words = {"tail", "-f", log0.path.string()}}};
  std::filesystem::remove(log1.path);
  bench.watch.add_log({log0.path.string(), "n0", log0.key});
  bench.watch.add_log({log1.path.string(), "n1", log1.key});
  const auto facts = bench.poll();
  CHECK(facts.size() == 2);
  const ProcessFact* fact = bench.fact(rank1.pid());
  REQUIRE(fact != nullptr);
  CHECK(fact->part == Part::rank);
  CHECK(fact->rank == Rank{1});
  CHECK(fact->node == "n1");
  CHECK(fact->job == "real");
  CHECK(fact->command == "sleep");
  CHECK(fact->boot_id.size() == 36);
  CHECK(bench.fact(reader.pid()) == nullptr);
  CHECK(bench.watch.descriptor() >= 0);
}

TEST_CASE("real processes: stopped, going on, killed") {
  Bench bench;
  Log log{bench.folder.path() / "rank0.log"};
  Child rank{{.words = {"sleep", "600"}, .environment = torch(0), .out = log.fd}};
  bench.watch.add_log({log.path.string(), "n0", log.key});
  bench.poll();
  rank.stop();
  auto facts = bench.poll();
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].state == ProcessState::stopped);
  rank.go_on();
  facts = bench.poll();
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].state != ProcessState::stopped);
  rank.signal(SIGTERM);
  REQUIRE(test::readable(bench.watch.descriptor()));
  facts = bench.poll();
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].state == ProcessState::gone);
  CHECK(facts[0].exit == Exit{Exit::Kind::signal, SIGTERM, Exit::Seen::child});
  const auto ended = rank.collect();
  REQUIRE(ended);
  CHECK(ended->si_code == CLD_KILLED);
  CHECK(ended->si_status == SIGTERM);
}

TEST_CASE("real processes: an exit code") {
  Bench bench;
  Log log{bench.folder.path() / "rank0.log"};
  Pipe input;
  Child rank{{.words = {"diff", "-", "/dev/null"},
              .environment = torch(0),
              .in = input.read,
              .out = log.fd}};
  bench.watch.add_log({log.path.string(), "n0", log.key});
  bench.poll();
  REQUIRE(bench.fact(rank.pid()) != nullptr);
  CHECK(::write(input.write, "x\n", 2) == 2);
  input.close_write();
  REQUIRE(test::readable(bench.watch.descriptor()));
  const auto facts = bench.poll();
  REQUIRE(facts.size() == 1);
  CHECK(facts[0].exit == Exit{Exit::Kind::code, 1, Exit::Seen::child});
}

TEST_CASE("real processes: somebody else's child, not collected, and collected at once") {
  for (const bool collected : {false, true}) {
    CAPTURE(collected);
    Bench bench;
    Log log{bench.folder.path() / "rank0.log"};
    Pipe input;
    // The parent runs diff as the rank. `exec sleep` never collects it; the shell does at once.
    const std::string script = collected ? "diff - /dev/null <&3 & wait; exec sleep 600"
                                         : "diff - /dev/null <&3 & exec sleep 600";
    const int kept = ::fcntl(input.read, F_DUPFD, 3);
    Child parent{{.words = {"sh", "-c", "exec 3<&0; " + script},
                  .environment = torch(0),
                  .in = kept,
                  .out = log.fd}};
    ::close(kept);
    bench.watch.add_log({log.path.string(), "n0", log.key});
    const ProcessFact* rank = nullptr;
    for (int tries = 0; tries < 100'000 && rank == nullptr; ++tries) {
      bench.watch.ask_scan();
      bench.poll();
      for (const ProcessFact& one : bench.facts = bench.watch.facts())
        if (one.command == "diff" && one.state != ProcessState::gone) rank = &one;
    }
    REQUIRE(rank != nullptr);
    const Pid pid = rank->pid;
    CHECK(::write(input.write, "x\n", 2) == 2);
    input.close_write();
    for (int tries = 0; tries < 100; ++tries) {
      if (bench.fact(pid.value())->state == ProcessState::gone) break;
      REQUIRE(test::readable(bench.watch.descriptor()));
      bench.poll();
    }
    const ProcessFact gone = *bench.fact(pid.value());
    CHECK(gone.state == ProcessState::gone);
    if (!collected) {
      CHECK(gone.exit == Exit{Exit::Kind::code, 1, Exit::Seen::zombie});
    } else {  // seen only on new kernels, or in the moment before the shell collected it
      const bool known = gone.exit.kind == Exit::Kind::code && gone.exit.value == 1;
      CHECK((known || gone.exit == Exit{}));
    }
  }
}

TEST_CASE("real processes: through a pipe and tee") {
  Bench bench;
  Log log{bench.folder.path() / "train.log"};
  Pipe pipe;
  Child tee{{.words = {"tee", log.path.string()}, .in = pipe.read}};
  Child rank{{.words = {"sleep", "600"}, .environment = torch(1), .out = pipe.write}};
  pipe.close_read();
  pipe.close_write();
  // tee opens its file after it was started.
  bench.watch.add_log({log.path.string(), "n0", log.key});
  const ProcessFact* fact = nullptr;
  for (int tries = 0; tries < 100'000 && fact == nullptr; ++tries) {
    bench.watch.ask_scan();
    bench.poll();
    fact = bench.fact(rank.pid());
  }
  REQUIRE(fact != nullptr);
  CHECK(fact->part == Part::rank);
  CHECK(fact->rank == Rank{1});
  const auto ranks = bench.watch.ranks_of(log.key);
  REQUIRE(ranks.size() == 1);
  CHECK(ranks[0]->via == Via::pipe);
}

TEST_CASE("real processes: more than there are pidfds for are looked at instead") {
  Bench bench;
  ProcessWatch::Options options = Bench::options();
  options.pidfds_max = 1;
  ProcessWatch watch{Proc{}, options};
  Log log{bench.folder.path() / "rank.log"};
  Child first{{.words = {"sleep", "600"}, .environment = torch(0), .out = log.fd}};
  Child second{{.words = {"sleep", "600"}, .environment = torch(1), .out = log.fd}};
  watch.add_log({log.path.string(), "n0", log.key});
  HostTime now = host_time();
  watch.poll(now);
  CHECK(watch.ranks_of(log.key).size() == 2);
  first.end();
  second.end();
  now.boot += std::chrono::seconds{10};
  watch.poll(now);
  for (const ProcessFact& fact : watch.facts()) CHECK(fact.state == ProcessState::gone);
}

}  // namespace
}  // namespace l4::host
