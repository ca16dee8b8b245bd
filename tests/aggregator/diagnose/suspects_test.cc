// The first suspect, by the lines that accuse a rank or node.
#include "aggregator/diagnose/suspects.h"

#include <doctest/doctest.h>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/faults/library.h"
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

}  // namespace
}  // namespace l4::diagnose
