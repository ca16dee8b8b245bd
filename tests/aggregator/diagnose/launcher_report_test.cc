// What a launcher's table of failed ranks says of a job, and when nobody needs it.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/faults/library.h"
#include "tests/aggregator/diagnose/made_faults.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::diagnose {
namespace {

using job::test::MadeJob;

enum class Cause : std::uint8_t { none, of_launcher, of_rank };

/// Four nodes; the launcher of node-0 reports that `rank` of `host` failed, behind `cause`.
Report reported(const char* rank, const char* host, Cause cause) {
  MadeJob job(4);
  job.iterate_all(1, 30);
  const SourceId launcher = job.add_source(0).id;
  if (cause == Cause::of_launcher)
    job.say_on(0, launcher, {"RuntimeError: a worker was killed", Level::error}, 31'000);
  if (cause == Cause::of_rank) job.say(3, {"RuntimeError: shapes differ", Level::error}, 31'000);
  wire::Segment& said =
      job.say_on(0, launcher, {"ChildFailedError: failed ranks", Level::error}, 32'000);
  said.parameters.push_back(
      {said.events.front().id,
       1,
       {{wire::ParameterKind::rank, rank, true}, {wire::ParameterKind::host, host, true}}});
  faults::Fault table = fault("table", Level::error, "ChildFailedError");
  table.consequence = true;
  const auto library = faults::Library().with({table});
  Options options;
  options.library = &library;
  return diagnose(job.state(), {}, options).report;
}

TEST_CASE("launcher: the rank that its table names leads while no rank tells of a cause") {
  for (const Cause cause : {Cause::none, Cause::of_launcher}) {
    const Report report = reported("2", "node-2", cause);
    REQUIRE_FALSE(report.nodes.empty());
    CHECK(report.nodes.front().node == "node-2");
    REQUIRE_FALSE(report.ranks.empty());
    CHECK(report.ranks.front().rank == Rank{2});
    CHECK(report.verdict.state == State::crashed);
  }
}

TEST_CASE("launcher: the rank that its table names leads, if its logs were not read, too") {
  const Report report = reported("5", "node-3x", Cause::of_launcher);
  REQUIRE_FALSE(report.nodes.empty());
  CHECK(report.nodes.front().node == "node-3x");
  REQUIRE_FALSE(report.ranks.empty());
  CHECK(report.ranks.front().rank == Rank{5});
}

TEST_CASE(
    "launcher: the rank that its table names on a node that prints no ranks is at home there") {
  MadeJob job(2);
  const SourceId console = job.add_source(1).id;
  job.iterate_all(1, 30);
  wire::Segment& said = job.say_on(1, console, {"failed (exitcode: -9)", Level::error}, 31'000);
  said.parameters.push_back(
      {said.events.front().id,
       1,
       {{wire::ParameterKind::rank, "5", true}, {wire::ParameterKind::host, "node-1", true}}});
  const Report report = diagnose(job.state(), {}, {}).report;
  REQUIRE_FALSE(report.ranks.empty());
  REQUIRE_FALSE(report.nodes.empty());
  CHECK(report.nodes.front().node == "node-1");
  const auto named = std::ranges::find(report.ranks, std::optional(Rank{5}), &SuspectRank::rank);
  REQUIRE(named != report.ranks.end());
  CHECK(named->node == "node-1");
  CHECK(std::ranges::count(report.nodes.front().ranks, Rank{5}) == 1);
}

TEST_CASE("kind: a platform's word for the outcome is no root beside the line that tells why") {
  const auto role_of = [](const char* outcome, bool alone) {
    MadeJob job(2);
    job.iterate_all(1, 30);
    const SourceId console = job.add_source(1).id;
    if (!alone) job.say(1, {"ValueError: sample 88 is too long", Level::error}, 31'000);
    job.say_on(1, console, {outcome, Level::error}, 31'500);
    const Report report = diagnose(job.state(), {}, {}).report;
    const auto event = std::ranges::find(report.events, outcome, &IndicatingEvent::text);
    REQUIRE(event != report.events.end());
    return event->role;
  };
  for (const char* outcome :
       {"training-toolkit ERROR Reporting training FAILURE",
        "ERROR Execution failed. User process 'python' exited with status code 1. Check the log",
        "Workload failed, see run output",
        "Trial 41 was terminated: container failed with "
        "non-zero exit code: 1",
        "[cli.launcher] Rank 3 crashed with exit code 1."}) {
    CAPTURE(outcome);
    CHECK(role_of(outcome, false) == Role::consequence);
    CHECK(role_of(outcome, true) == Role::root);
  }
}

TEST_CASE("launcher: a rank that tells of a cause leads over the one of the table") {
  const Report report = reported("2", "node-2", Cause::of_rank);
  REQUIRE_FALSE(report.nodes.empty());
  CHECK(report.nodes.front().node == "node-3");
}

}  // namespace
}  // namespace l4::diagnose
