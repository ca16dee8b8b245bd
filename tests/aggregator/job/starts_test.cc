// The attempt of each start, where nodes count for themselves and ranks move between them.
#include "aggregator/job/starts.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "aggregator/job/attempts.h"
#include "aggregator/job/view.h"

namespace l4::job {
namespace {

TimeMs at(std::int64_t seconds) {
  return from_civil(2026, 11, 20, 10, 0, 0, 0) + Millis{seconds * 1000};
}

/// Ranks of a job as their agents report them.
class Told {
 public:
  /// The rank's process, its log, and how long it lived and spoke; -1: it lives.
  void start(const std::string& node, int rank, int attempt, int began, int left,
             int last_arrival = -1) {
    wire::Batch batch;
    batch.agent = node;
    wire::ProcessFact fact;
    fact.boot_id = node;
    fact.pid = wire::Pid{++pids_};
    fact.started_boot = std::chrono::seconds{began};
    fact.started = fact.since = at(began);
    fact.part = wire::Part::rank;
    fact.attempt = attempt;
    fact.rank = Rank{rank};
    fact.state = left < 0 ? wire::ProcessState::sleeping : wire::ProcessState::gone;
    if (left >= 0) fact.since = at(left);
    batch.processes.push_back(fact);
    wire::SourceDefinition source;
    source.id = SourceId{static_cast<std::uint32_t>(pids_)};
    source.path = node + "/" + std::to_string(pids_) + ".log";
    source.node = node;
    source.kind = wire::SourceKind::rank;
    source.rank = Rank{rank};
    source.rank_source = RankSource::env;
    source.attempt = attempt;
    batch.sources.push_back(source);
    wire::Segment segment;
    segment.source = source.id;
    segment.begin = at(began + 1);
    segment.end = segment.arrival_begin = segment.arrival_end = at(last_arrival >= 0 ? last_arrival
                                                                   : left >= 0       ? left
                                                                               : began + 1000);
    segment.lines = {1, 1};
    segment.timed_last_line = 1;
    batch.segments.push_back(segment);
    REQUIRE(state.apply(batch));
  }
  /// "NODE:RANK PID" of the ranks of an attempt.
  std::vector<std::string> ranks(std::int32_t attempt) const {
    const JobView view = make_view(state, attempt, false);
    std::vector<std::string> all;
    for (const RankView& rank : view.ranks)
      all.push_back(view.nodes[rank.node].name + ":" + std::to_string(rank.rank->value()) + " " +
                    (rank.process == nullptr ? "-" : std::to_string(rank.process->pid.value())));
    return all;
  }

  TemplateTable templates;
  JobState state{"job", 0, templates};

 private:
  int pids_ = 0;
};

using Ranks = std::vector<std::string>;
using Numbers = std::vector<std::int32_t>;

TEST_CASE("starts: a requeued job is another attempt on nodes that knew it and on others") {
  Told told;
  told.start("a", 0, 0, 0, 100);
  told.start("b", 1, 0, 1, 101);
  told.start("a", 0, 1, 200, -1);
  told.start("c", 1, 1, 201, -1);
  CHECK(Attempts(told.state).numbers() == Numbers{0, 1});
  CHECK(told.ranks(0) == Ranks{"a:0 1", "b:1 2"});
  CHECK(told.ranks(1) == Ranks{"a:0 3", "c:1 4"});
}

TEST_CASE("starts: restarts before a requeue were not seen by the nodes that are new") {
  Told told;
  told.start("a", 0, 0, 0, 100);
  told.start("b", 1, 0, 0, 100);
  told.start("a", 0, 1, 200, 300);
  told.start("b", 1, 1, 200, 300);
  told.start("a", 0, 2, 400, -1);
  told.start("c", 1, 1, 405, -1);
  CHECK(Attempts(told.state).numbers() == Numbers{0, 1, 2});
  CHECK(told.ranks(1) == Ranks{"a:0 3", "b:1 4"});
  CHECK(told.ranks(2) == Ranks{"a:0 5", "c:1 6"});
}

TEST_CASE("starts: a pod that is made anew elsewhere is in the attempt of the others' restart") {
  Told told;
  told.start("a", 0, 0, 0, 100);
  told.start("b", 1, 0, 0, 90);
  told.start("c", 1, 0, 120, -1);  // this start waits for the others
  told.start("a", 0, 1, 400, -1);  // the container of rank 0 was restarted
  CHECK(Attempts(told.state).numbers() == Numbers{0, 1});
  CHECK(told.ranks(0) == Ranks{"a:0 1", "b:1 2"});
  CHECK(told.ranks(1) == Ranks{"a:0 4", "c:1 3"});
}

TEST_CASE("starts: all pods are made anew, each elsewhere") {
  Told told;
  told.start("a", 0, 0, 0, 100);
  told.start("b", 1, 0, 0, 100);
  told.start("c", 0, 0, 150, -1);
  told.start("d", 1, 0, 160, -1);
  CHECK(Attempts(told.state).numbers() == Numbers{0, 1});
  CHECK(told.ranks(0) == Ranks{"a:0 1", "b:1 2"});
  CHECK(told.ranks(1) == Ranks{"c:0 3", "d:1 4"});
}

TEST_CASE("starts: of a lost node nobody says that its processes are over") {
  Told told;
  told.start("a", 0, 0, 0, 100);
  told.start("b", 1, 0, 0, -1, 60);
  told.start("a", 0, 1, 400, -1);
  told.start("c", 1, 0, 390, -1);
  CHECK(told.ranks(0) == Ranks{"a:0 1", "b:1 2"});
  CHECK(told.ranks(1) == Ranks{"a:0 3", "c:1 4"});
}

TEST_CASE("starts: what agrees is left as it is") {
  Told told;  // two nodes with torchrun's folders attempt_N
  for (const int attempt : {0, 1, 2})
    for (const int rank : {0, 1})
      told.start(rank == 0 ? "a" : "b", rank, attempt, attempt * 100,
                 attempt < 2 ? attempt * 100 + 90 : -1);
  CHECK(Attempts(told.state).numbers() == Numbers{0, 1, 2});
  CHECK(told.ranks(1) == Ranks{"a:0 3", "b:1 4"});
  // The number of a rank on two nodes at once comes from wrong names, not from a move.
  Told twice;
  twice.start("a", 0, 0, 0, -1);
  twice.start("b", 0, 0, 40, -1);
  CHECK(Attempts(twice.state).numbers() == Numbers{0});
  CHECK(twice.ranks(0) == Ranks{"a:0 1", "b:0 2"});
}

}  // namespace
}  // namespace l4::job
