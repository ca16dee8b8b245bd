// The first suspect, by the lines that accuse a rank or node.
#include "aggregator/diagnose/suspects.h"

#include <doctest/doctest.h>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/diagnose/summary.h"
#include "aggregator/faults/library.h"
#include "common/parameters/parameters.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::diagnose {
namespace {

/// Four nodes with two ranks each. The kernel of node-2 reports a killed process, of the rank
/// `killed` or unknown; all ranks but rank 5 report a lost peer.
Report report_with(std::optional<Rank> killed) {
  const auto library = faults::Library::load(L4_SOURCE_DIR "/config/faults");
  REQUIRE(library);
  job::test::MadeJob job(4, 2);
  job.iterate_all(1, 20);
  wire::SourceDefinition& kernel = job.add_source(2);
  kernel.kind = wire::SourceKind::kernel;
  kernel.path = "/dev/kmsg";
  kernel.rank = killed;
  const SourceId id = kernel.id;
  job.say_on(2, id, {"Out of memory: Killed process 4711 (python3) total-vm:1kB", Level::error},
             20'500);
  for (const int rank : {0, 1, 2, 3, 4, 6, 7})
    job.say(rank, {"RuntimeError: Connection closed by peer [10.7.0.1]:36", Level::error}, 21'000);
  Options options;
  options.library = &*library;
  return diagnose(job.state(), {}, options).report;
}

TEST_CASE("suspects: the rank whose process the kernel killed is the first") {
  const Report report = report_with(Rank{5});
  CHECK(report.verdict.state == State::crashed);
  REQUIRE_FALSE(report.ranks.empty());
  CHECK(report.ranks[0].rank == Rank{5});
  REQUIRE_FALSE(report.nodes.empty());
  CHECK(report.nodes[0].node == "node-2");
  // A kill of an unknown process counts for the node.
  const Report unknown = report_with(std::nullopt);
  REQUIRE_FALSE(unknown.nodes.empty());
  CHECK(unknown.nodes[0].node == "node-2");
}

TEST_CASE("suspects: kind: where all say alike that they failed, who lost something else leads") {
  faults::Fault store;
  store.id = "store";
  store.patterns = {"the key of the group did not arrive"};
  store.severity = Level::fatal;
  store.consequence = store.accuses_peer = true;
  const auto library = faults::Library().with({store});
  for (const bool all : {true, false}) {  // otherwise a cause names the place
    CAPTURE(all);
    job::test::MadeJob job(8);
    job.iterate_all(1, 20);
    for (int rank = 0; rank < (all ? 8 : 1); ++rank)
      if (rank != 5)
        job.say(rank, {"RuntimeError: the tensor could not be sent", Level::error},
                20'500 + rank / 4 * 2000);
    job.say(5, {"the key of the group did not arrive", Level::error}, 20'600);
    Options options;
    options.library = &library;
    const Report report = diagnose(job.state(), {}, options).report;
    CHECK(report.nodes.at(0).node == (all ? "node-5" : "node-0"));
    CHECK(report.ranks.at(0).rank == Rank{all ? 5 : 0});
  }
}

/// The job of an operator's or a driver's log; `text` is its last line.
Report report_of_line(const std::string& masked, const std::string& text) {
  const auto library = faults::Library::load(L4_SOURCE_DIR "/config/faults");
  REQUIRE(library);
  job::test::MadeJob job(1, 1);
  job.source_of(0).rank.reset();
  job.iterate_all(1, 20);
  wire::Segment& segment = job.say(0, {masked, Level::error}, 20'500);
  wire::ParameterTuple tuple{segment.events[0].id, 1, {}};
  parameters::extract(text, tuple.values);
  segment.parameters.push_back(std::move(tuple));
  Options options;
  options.library = &*library;
  return diagnose(job.state(), {}, options).report;
}

TEST_CASE("suspects: the node that an operator names leads, though it wrote no log") {
  const Report report = report_of_line("pod <*> exited with code <*>, reason OOMKilled",
                                       "pod train-worker-2 exited with code 137, reason OOMKilled");
  REQUIRE(report.nodes.size() == 2);
  CHECK(report.nodes[0].node == "train-worker-2");
  CHECK(report.nodes[0].confidence > report.nodes[1].confidence);
  CHECK(report.verdict.scope == Scope::node);
  CHECK(report.verdict.summary.contains("on train-worker-2"));
  REQUIRE_FALSE(report.events.empty());
  CHECK(report.events[0].role == Role::root);
}

TEST_CASE("suspects: ranks that a waiting rank names as missing lead, and the job hangs") {
  const auto library = faults::Library::load(L4_SOURCE_DIR "/config/faults");
  REQUIRE(library);
  struct Wording {
    std::string masked, text, details;
  };
  const std::vector<Wording> wordings{
      {"Missing ranks:", "Missing ranks:", "2: [grads_0, grads_1 ...]"},
      {"HorovodBroadcast_step_<*> [missing ranks: <*>]",
       "HorovodBroadcast_step_0 [missing ranks: 2]", ""},
      {"RuntimeError: Rank <*> failed to pass monitoredBarrier in <*>",
       "RuntimeError: Rank 2 failed to pass monitoredBarrier in 30000 ms", ""}};
  for (const Wording& wording : wordings) {
    CAPTURE(wording.text);
    job::test::MadeJob job(1, 4);
    for (std::int64_t k = 1; k <= 20; ++k)
      for (int rank = 0; rank < 4; ++rank) job.iterate(rank, k, std::nullopt);
    wire::Segment& segment = job.say(0, {wording.masked, Level::warning});
    wire::ParameterTuple tuple{segment.events[0].id, 1, {}};
    parameters::extract(wording.text, wording.details, tuple.values);
    segment.parameters.push_back(std::move(tuple));
    Options options;
    options.library = &*library;
    const Report report = diagnose(job.state(), {}, options).report;
    CHECK(report.verdict.state == State::hung);
    REQUIRE_FALSE(report.ranks.empty());
    CHECK(report.ranks[0].rank == Rank{2});
  }
}

TEST_CASE("suspects: a rank that is only named leads, of an unknown node") {
  Report report = report_of_line(
      "/job:jax_worker/replica:<*>/task:<*> has been set to ERROR: Task heartbeat timeout",
      "/job:jax_worker/replica:0/task:5 has been set to ERROR: Task heartbeat timeout");
  REQUIRE_FALSE(report.ranks.empty());
  CHECK(report.ranks[0].rank == Rank{5});
  CHECK(report.ranks[0].node.empty());
  CHECK(report.verdict.scope == Scope::rank);
  report.verdict.state = State::crashed;
  CHECK(summarise(report).contains("on rank 5"));
}

}  // namespace
}  // namespace l4::diagnose
