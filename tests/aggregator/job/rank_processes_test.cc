// The process of a rank: by node, rank and attempt; bounds and saving of processes.
#include "aggregator/job/rank_processes.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/job/saved_job.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::job {
namespace {

using test::after;
using test::MadeJob;
using wire::ProcessFact;
using wire::ProcessState;

ProcessFact rank_process(std::int32_t rank, std::int32_t pid, std::int32_t attempt = 0) {
  ProcessFact fact;
  fact.boot_id = "boot";
  fact.pid = wire::Pid{pid};
  fact.started_boot = std::chrono::seconds{pid};
  fact.started = after(pid);
  fact.command = "python";
  fact.part = wire::Part::rank;
  fact.node = "node-0";
  fact.attempt = attempt;
  fact.rank = Rank{rank};
  fact.rank_source = RankSource::env;
  fact.state = ProcessState::sleeping;
  fact.since = after(pid);
  return fact;
}

struct ToldJob {
  explicit ToldJob(MadeJob& made) {
    for (const wire::Batch& batch : made.batches()) CHECK(state.apply(batch));
  }
  void tell(std::vector<ProcessFact> facts) {
    wire::Batch batch;
    batch.agent = "node-0";
    batch.processes = std::move(facts);
    CHECK(state.apply(batch));
  }
  TemplateTable templates;
  JobState state{"job", 0, templates};
};

std::int32_t pid_of(const JobView& view, std::size_t rank) {
  const ProcessFact* process = view.ranks[rank].process;
  return process == nullptr ? 0 : process->pid.value();
}

}  // namespace

TEST_CASE("rank processes: by node and rank, helpers and launchers aside") {
  MadeJob made(2, 2);
  made.iterate_all(1, 3);
  ToldJob job(made);
  std::vector<ProcessFact> facts = {rank_process(0, 10), rank_process(1, 11), rank_process(0, 20),
                                    rank_process(2, 30)};
  facts[2].part = wire::Part::helper;
  job.tell(facts);
  const JobView view = make_view(job.state, 0, false);
  CHECK(pid_of(view, 0) == 10);
  CHECK(pid_of(view, 1) == 11);
  CHECK(pid_of(view, 2) == 0);  // that rank is on another node
}

TEST_CASE("rank processes: a restart that the logs do not show yet is not this attempt's") {
  MadeJob made(1);
  made.iterate_all(1, 3);
  ToldJob job(made);
  ProcessFact gone = rank_process(0, 10);
  gone.state = ProcessState::gone;
  job.tell({gone, rank_process(0, 20, 1)});
  CHECK(pid_of(make_view(job.state, 0, false), 0) == 10);
}

TEST_CASE("rank processes: the newest attempt takes the newest process if none has its number") {
  MadeJob made(1);
  made.source_of(0).attempt = 3;
  made.iterate_all(1, 3);
  ToldJob job(made);
  job.tell({rank_process(0, 20), rank_process(0, 10)});
  CHECK(pid_of(make_view(job.state, 3, false), 0) == 20);
}

TEST_CASE("rank processes: one that was gone before the rank first spoke is another attempt's") {
  MadeJob made(1, 2);
  made.source_of(0).attempt = made.source_of(1).attempt = 3;
  made.iterate_all(1, 3);  // the first line is printed at 1000 ms
  ToldJob job(made);
  ProcessFact before = rank_process(0, 10), within = rank_process(1, 11);
  before.state = within.state = ProcessState::gone;
  before.since = after(500);
  within.since = after(2500);
  job.tell({before, within});
  CHECK(pid_of(make_view(job.state, 3, false), 0) == 0);
  CHECK(pid_of(make_view(job.state, 3, false), 1) == 11);
  // Now a process has the attempt's number, so a rank without one has no process.
  job.tell({rank_process(1, 12, 3)});
  CHECK(pid_of(make_view(job.state, 3, false), 0) == 0);
  CHECK(pid_of(make_view(job.state, 3, false), 1) == 12);
}

TEST_CASE("rank processes: by local rank where the rank is not known") {
  MadeJob made(1, 2);
  made.source_of(0).local_rank = 0;
  made.source_of(1).local_rank = 1;
  made.iterate_all(1, 3);
  ToldJob job(made);
  ProcessFact fact = rank_process(0, 10);
  fact.rank.reset();
  fact.local_rank = 1;
  job.tell({fact});
  CHECK(pid_of(make_view(job.state, 0, false), 0) == 0);
  CHECK(pid_of(make_view(job.state, 0, false), 1) == 10);
}

TEST_CASE("processes: one that is gone stays gone, and all is saved") {
  MadeJob made(1);
  made.iterate_all(1, 3);
  ToldJob job(made);
  ProcessFact gone = rank_process(0, 10);
  gone.state = ProcessState::gone;
  gone.exit = {wire::Exit::Kind::signal, 9, wire::Exit::Seen::pidfd};
  gone.world_size = 8;
  gone.cpu = Millis{77};
  gone.started = TimeMs{Millis{-5}};
  job.tell({rank_process(0, 10)});
  job.tell({gone});
  job.tell({rank_process(0, 10)});
  ByteWriter out;
  save_job(job.state, out);
  TemplateTable templates;
  JobState loaded("job", 0, templates);
  REQUIRE(load_job(out.bytes(), loaded));
  const ProcessTable& table = loaded.agents().at("node-0").processes;
  REQUIRE(table.size() == 1);
  CHECK(table.begin()->second == gone);
}

TEST_CASE("processes: of too many those that are gone go first, then helpers") {
  ProcessTable table;
  for (std::int32_t i = 0; i < 10; ++i) {
    ProcessFact fact = rank_process(i, 10 + i);
    if (i % 2 == 1) fact.state = ProcessState::gone;
    if (i == 4) fact.part = wire::Part::helper;
    table.apply(fact, 4);
  }
  CHECK(table.size() == 4);
  CHECK(table.forgotten() == 6);
  std::vector<std::int32_t> kept;
  for (const auto& [key, fact] : table) kept.push_back(fact.rank->value());
  CHECK(kept == std::vector<std::int32_t>{0, 2, 6, 8});
}

TEST_CASE("processes: the report says how the process of a rank is") {
  MadeJob made(1, 4);
  made.iterate_all(1, 20);
  for (int rank = 0; rank < 4; ++rank)
    made.say(rank, {"CUDA error: device-side assert triggered", Level::fatal}, 21'000 + rank);
  ToldJob job(made);
  std::vector<ProcessFact> facts = {rank_process(0, 10), rank_process(1, 11), rank_process(2, 12)};
  facts[0].state = ProcessState::gone;
  facts[1].state = ProcessState::stopped;
  job.tell(facts);
  const auto report = diagnose::diagnose(job.state, {}, {}).report;
  REQUIRE(report.ranks.size() == 4);
  using diagnose::Process;
  const Process expected[] = {Process::gone, Process::stopped, Process::alive, Process::unknown};
  for (const diagnose::SuspectRank& rank : report.ranks)
    CHECK(rank.process == expected[rank.rank->value()]);
}

}  // namespace l4::job
