// A whole agent on real files and a /proc that is played, and what it ships to an aggregator in
// memory: killed, begun without an aggregator, replaced by another one.
#include "agent/daemon/agent.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/agent/host/fake_proc.h"
#include "tests/aggregator/receive/link_world.h"
#include "tests/captured_stderr.h"

namespace l4::daemon {
namespace {

namespace fs = std::filesystem;
constexpr auto kName = "node-a";
constexpr int kPid = 1 << 22;  // no process of the host has it

class Bench {
 public:
  Bench() {
    fs::create_directories(logs());
    start_server();
  }
  fs::path logs() const { return folder_.path() / "logs"; }
  fs::path state(const char* name) const { return folder_.path() / "state" / name; }
  /// One file for each job.
  fs::path log(const std::string& job) const { return logs() / job / "rank0.log"; }

  void start_server() {
    port_ = network.server();
    receive::ServerOptions options;
    options.incarnation = ++incarnation_;
    server =
        std::make_unique<receive::AgentServer>(options, *port_, ledger, observer_, now.instant());
  }
  /// Batches that are not durable are lost.
  void kill_server() {
    server.reset();
    port_.reset();
    ledger.crash();
  }
  void start_agent(std::optional<tail::Tailer> tailer = {}) {
    agent.reset();
    fs::create_directories(state(""));
    Settings settings;
    settings.sources = {logs() / "job-1", logs() / "job-2"};
    settings.state = state("");
    settings.frameworks = L4_SOURCE_DIR "/config/frameworks";
    settings.pipeline.live = true;
    settings.limits = {0, 0, 0};
    settings.kernel = false;
    settings.processes = processes;
    settings.jobs = jobs;
    Agent::World world;
    world.name = kName;
    world.software = "l4 test";
    world.incarnation = world.seed = ++incarnation_ << 48U;
    world.port = network.client(kName, "10.0.0.1");
    world.proc = proc.proc();
    world.log = &log_;
    world.tailer = std::move(tailer);
    auto made = Agent::make(std::move(settings), std::move(world), now);
    REQUIRE(made);
    agent = std::move(*made);
  }
  void write(const std::string& job, int lines) {
    fs::create_directories(log(job).parent_path());
    std::ofstream out{log(job), std::ios::app};
    for (int i = 0; i < lines; ++i) out << "INFO line " << ++written << " of some length\n";
  }
  /// A rank of the job that writes its log.
  void launch(const std::string& job) {
    proc.set(kPid, {.environment = {"RANK=0", "WORLD_SIZE=1", "TORCHELASTIC_RUN_ID=" + job}});
    proc.open(kPid, 1, log(job));
  }
  template <class Each>
  void run(Millis span, Each each) {
    constexpr Millis kStep{50};
    for (Millis gone{0}; gone < span; gone += kStep) {
      now.steady += kStep;
      now.host.wall += kStep;
      now.host.boot += kStep;
      network.advance(now.steady);
      agent->step(now);
      each();
      if (!server) continue;
      server->step(now.instant());
      if (commits) ledger.commit(*server, 1000);
    }
  }
  void run(Millis span) {
    run(span, [] {});
  }
  bool kept(const char* name, const std::string& text) const {
    std::ifstream in(state(name), std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}}.find(text) != std::string::npos;
  }
  bool says(const std::string& metric) const {
    return agent->metrics().find(metric + "\n") != std::string::npos;
  }
  auto ends_told() const {
    return std::ranges::count(ledger.processes(), wire::ProcessState::gone,
                              &wire::ProcessFact::state);
  }

  host::test::FakeProc proc;
  wire::simulation::Network network{1};
  test::FakeLedger ledger;
  bool commits = true, processes = true;
  Jobs::Bounds jobs;
  Moment now{Millis{1'000'000},
             {std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now()),
              std::chrono::seconds{1'000}}};
  int written = 0;
  std::unique_ptr<receive::AgentServer> server;
  std::unique_ptr<Agent> agent;

 private:
  test::TempFolder folder_;
  test::FakeObserver observer_;
  OwnLog log_{false};
  std::uint64_t incarnation_ = 0;
  std::unique_ptr<wire::ServerPort> port_;
};

TEST_CASE("agent: what is remembered with nothing counted is not counted twice") {
  Bench bench;
  bench.commits = false;
  bench.write("job-1", 100);
  bench.start_agent();
  bench.run(Millis{7'000});
  REQUIRE(bench.kept("positions", "rank0.log"));
  // Committed, and before the agent gets the acknowledgement:
  bench.ledger.commit(*bench.server, 1000);
  REQUIRE(bench.ledger.lines(kName) == 100);
  bench.kill_server();
  bench.commits = true;
  bench.start_agent();
  bench.write("job-1", 10);
  bench.run(Millis{9'000});  // alone
  bench.start_server();
  bench.run(Millis{60'000});
  CHECK(bench.ledger.lines(kName) == 110);
  CHECK(bench.ledger.faults().empty());
}

TEST_CASE("agent: what it read alone is kept though positions are there of the kernel's log") {
  Bench bench;
  bench.ledger.prefill(kName, 2);  // positions of two unknown files
  bench.write("job-1", 10);
  bench.start_agent();
  bench.run(Millis{12'000});
  REQUIRE(bench.ledger.lines(kName) == 12);
  bench.kill_server();
  bench.start_agent();
  bench.write("job-1", 20);
  bench.run(Millis{9'000});  // alone
  bench.start_server();
  bench.run(Millis{60'000});
  CHECK(bench.ledger.lines(kName) == 32);
  CHECK(bench.ledger.faults().empty());
  CHECK(bench.says("l4_agent_resets_total 0"));
}

TEST_CASE("agent: its log tells of a lost connection as a warning, and each time that it is back") {
  const test::CapturedStderr err;
  Bench bench;
  bench.start_agent();
  bench.run(Millis{7'000});
  CHECK(err.count(" info connected to the aggregator") == 1);
  bench.kill_server();
  bench.run(Millis{60'000});
  CHECK(err.count(" warning the aggregator ") > 0);
  CHECK(err.count(" info the aggregator ") == 0);
  bench.start_server();
  bench.run(Millis{60'000});
  CHECK(err.count(" info connected to the aggregator") == 2);
}

TEST_CASE("agent: makes room whether or not it watches processes") {
  for (const bool processes : {true, false}) {
    Bench bench;
    bench.processes = processes;
    bench.write("job-1", 10);
    bench.start_agent();
    bench.run(Millis{7'000});
    bench.agent->make_room(bench.now);
    CHECK(bench.kept("positions", "rank0.log"));
    bench.start_agent();
    bench.write("job-1", 10);
    bench.run(Millis{7'000});
    CHECK(bench.ledger.lines(kName) == 20);
  }
}

TEST_CASE("agent: a file that is deleted and still written to goes over to the next one") {
  Bench bench;
  bench.write("job-1", 10);
  std::ofstream out{bench.log("job-1"), std::ios::app};
  bench.start_agent();
  bench.run(Millis{7'000});
  fs::remove(bench.log("job-1"));
  bench.run(Millis{3'000});
  bench.start_agent(bench.agent->make_room(bench.now));
  bench.run(Millis{3'000});
  out << "INFO one more line\n" << std::flush;
  bench.run(Millis{7'000});
  CHECK(bench.ledger.lines(kName) == 11);
  CHECK(bench.ledger.faults().empty());
}

TEST_CASE("agent: what was counted once and is no more is read again by the next one") {
  Bench bench;
  bench.write("job-1", 10);
  bench.start_agent();
  bench.run(Millis{7'000});
  auto tailer = bench.agent->make_room(bench.now);
  bench.kill_server();
  bench.ledger.lose_everything();
  bench.start_server();
  bench.start_agent(std::move(tailer));
  bench.run(Millis{7'000});
  CHECK(bench.ledger.lines(kName) == 10);
  CHECK(bench.ledger.faults().empty());
}

TEST_CASE("agent: the end of a process is told until it is counted, and then no more") {
  Bench bench;
  bench.write("job-1", 10);
  bench.launch("job-1");
  bench.start_agent();
  bench.run(Millis{12'000});
  REQUIRE(bench.kept("processes", std::to_string(kPid)));
  bench.commits = false;
  bench.proc.remove(kPid);
  bench.run(Millis{7'000});  // the end is shipped and saved, but its batch is not committed
  REQUIRE(bench.ledger.pending() > 0);
  REQUIRE(bench.ends_told() == 0);
  bench.kill_server();
  bench.commits = true;
  bench.start_server();
  bench.start_agent();
  bench.run(Millis{7'000});
  CHECK(bench.ends_told() == 1);
  bench.start_agent();
  bench.run(Millis{7'000});
  CHECK(bench.ends_told() == 1);
}

TEST_CASE("agent: another log of a process that is known is remembered") {
  Bench bench;
  bench.write("job-1", 10);
  bench.launch("job-1");
  bench.start_agent();
  bench.run(Millis{40'000});
  const fs::path more = bench.log("job-1").parent_path() / "more.log";
  std::ofstream{more} << "INFO one more log\n";
  bench.proc.open(kPid, 2, more);
  bench.run(Millis{20'000});
  CHECK(bench.kept("processes", "more.log"));
}

TEST_CASE("agent: is replaced only while the aggregator has all it read") {
  Bench bench;
  bench.jobs = {.jobs_max = 2, .idle_after = Millis{2'000}};
  bench.write("job-1", 10);
  bench.write("job-2", 10);
  bench.start_agent();
  int times = 0;
  for (int i = 0; i < 80; ++i) {
    bench.write("job-1", 5);
    bench.run(Millis{250}, [&] {  // half of the time that read lines may wait
      if (!bench.agent->is_crowded()) return;
      ++times;
      std::uint64_t counted = 0;
      for (const auto& position : bench.ledger.load(kName).positions) counted += position.offset;
      CHECK(bench.says("l4_agent_read_bytes_total " + std::to_string(counted)));
    });
  }
  CHECK(times > 20);
}

TEST_CASE("agent: is replaced beside a job that prints all the time, which loses nothing") {
  Bench bench;
  bench.jobs = {.jobs_max = 2, .idle_after = Millis{2'000}};
  bench.write("job-1", 10);
  bench.write("job-2", 10);
  bench.start_agent();
  std::uint64_t lines = 20;
  int times = 0;
  for (int i = 0; i < 600; ++i, ++lines) {
    bench.write("job-1", 1);
    bench.run(Millis{30}, [&] { times += bench.agent->is_crowded() ? 1 : 0; });
  }
  CHECK(times > 0);
  bench.run(Millis{12'000});
  CHECK(bench.ledger.lines(kName) == lines);
}

TEST_CASE("agent: is not replaced because of a job that lives and is silent") {
  Bench bench;
  bench.jobs = {.jobs_max = 1, .idle_after = Millis{5'000}};
  bench.write("job-1", 10);
  bench.launch("job-1");
  bench.start_agent();
  bench.run(Millis{30'000}, [&] { CHECK_FALSE(bench.agent->is_crowded()); });
  bench.proc.remove(kPid);
  bench.run(Millis{10'000});
  CHECK(bench.agent->is_crowded());
}

}  // namespace
}  // namespace l4::daemon
