// Nodes that differ while a job runs, by rolling windows: from events of any wording.
#include "aggregator/detect/spatial/rolling.h"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>

#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::spatial {
namespace {

using job::test::MadeJob;

const job::test::Say kBeat{"lease renewed", Level::info};
const job::test::Say kFlap{"link flap observed on port", Level::info};
const job::test::Say kKept{"kept a copy of the weights", Level::info};

/// A job of 40 minutes with an iteration each 10 s; `each` says what a rank prints beside it.
template <class Each>
void run(MadeJob& made, Each each) {
  constexpr std::int64_t kIterations = 240, kPace = 10'000;
  for (std::int64_t k = 1; k <= kIterations; ++k)
    for (int rank = 0; rank < made.ranks(); ++rank) {
      each(rank, k, k * kPace - 4000);
      made.iterate(rank, k, k * kPace);
    }
}

/// The differences, and the names of the nodes.
struct Compared {
  Differences found;
  std::set<std::string> names;
};

Compared compare(MadeJob& made) {
  const job::JobView view = made.view();
  Compared compared{compare_by_windows(view, job::make_clock(view), {}), {}};
  for (const NodeDifference& node : compared.found.nodes)
    compared.names.insert(view.nodes[node.node].name);
  return compared;
}

using Names = std::set<std::string>;

TEST_CASE("nodes that print alike do not differ") {
  MadeJob made(12);
  run(made, [&](int rank, std::int64_t k, std::int64_t ms) {
    if (k % 2 == 0) made.say(rank, kBeat, ms);
    if (k % 30 == rank) made.say(rank, {"freed some memory", Level::info}, ms);
  });
  const auto [found, names] = compare(made);
  CHECK(found.compared == 12);
  CHECK(names.empty());
}

TEST_CASE("one odd line of one node is told, once, with its time") {
  MadeJob made(30);
  run(made, [&](int rank, std::int64_t k, std::int64_t ms) {
    if (k % 2 == 0) made.say(rank, kBeat, ms);
    if (rank == 17 && k == 150) made.say(rank, kFlap, ms);
  });
  const auto [found, names] = compare(made);
  REQUIRE(names == Names{"node-17"});
  const NodeDifference& node = found.nodes.front();
  REQUIRE(node.events.size() == 1);
  CHECK(node.events.front().kind == EvidenceKind::fresh);
  CHECK(node.events.front().nodes == 1);
  CHECK(node.since == job::test::after(1'496'000));
  CHECK_FALSE(node.alarm);
}

TEST_CASE("a line that recurs is told where many nodes print a new line once") {
  constexpr std::array kOwn{"cache of tokens was compacted",   "resolver fell back to files",
                            "clock was stepped by the daemon", "huge pages are split again",
                            "session of the tracker renewed",  "profiler dropped one sample"};
  for (const bool recurs : {true, false}) {
    CAPTURE(recurs);
    MadeJob made(12);
    run(made, [&](int rank, std::int64_t k, std::int64_t ms) {
      if (k % 2 == 0) made.say(rank, kBeat, ms);
      if (rank % 2 == 0 && k == 100 + rank)
        made.say(rank, {kOwn[static_cast<std::size_t>(rank / 2)], Level::info}, ms);
      if (rank == 5 && (recurs ? k > 120 && k % 20 == 0 : k == 140)) made.say(rank, kFlap, ms);
    });
    CHECK(compare(made).names == (recurs ? Names{"node-5"} : Names{}));
  }
}

TEST_CASE("a line that a node prints nine times as often is told") {
  MadeJob made(16);
  run(made, [&](int rank, std::int64_t k, std::int64_t ms) {
    const bool more = rank == 5 && k > 180;
    if (more || k % 9 == rank % 9) made.say(rank, kBeat, ms);
  });
  const auto [found, names] = compare(made);
  REQUIRE(names == Names{"node-5"});
  CHECK(found.nodes.front().events.front().count > found.nodes.front().events.front().expected);
}

TEST_CASE("a node that stops printing what its peers print is told") {
  MadeJob made(8);
  run(made, [&](int rank, std::int64_t k, std::int64_t ms) {
    if (rank != 3 || k < 160) made.say(rank, kBeat, ms);
  });
  const auto [found, names] = compare(made);
  REQUIRE(names == Names{"node-3"});
  CHECK(found.nodes.front().events.front().count == 0);
}

TEST_CASE("what all nodes stop or begin to print tells none apart") {
  MadeJob made(8);
  run(made, [&](int rank, std::int64_t k, std::int64_t ms) {
    if (k < 160) made.say(rank, kBeat, ms);
    if (k > 170) made.say(rank, kFlap, ms);
  });
  CHECK(compare(made).names.empty());
}

TEST_CASE("roles have events of their own, and get others later") {
  MadeJob made(16);
  run(made, [&](int rank, std::int64_t k, std::int64_t ms) {
    made.say(rank, kBeat, ms);
    if (rank == 0) {
      if (k == 1) made.say(rank, {"world is ready", Level::info}, ms);
      if (k == 1) made.say(rank, {"wrote the settings", Level::info}, ms);
      if (k % 10 == 0) made.say(rank, {"mean loss", Level::info}, ms);
      if (k % 100 == 0) made.say(rank, kKept, ms);
    }
    if (rank >= 14) {
      if (k == 1) made.say(rank, {"last stage", Level::info}, ms);
      if (k == 1) made.say(rank, {"holds the head", Level::info}, ms);
      if (k % 80 == 0) made.say(rank, {"validation loss", Level::info}, ms);
    }
  });
  CHECK(compare(made).names.empty());
}

TEST_CASE("nodes that say nothing in the period do not differ") {
  MadeJob made(12);
  made.say(3, kFlap, 500);
  for (int rank = 0; rank < made.ranks(); ++rank) made.iterate(rank, 1, 1000);
  for (int rank = 0; rank < made.ranks(); ++rank) made.iterate(rank, 2, 2'400'000);
  const auto [found, names] = compare(made);
  CHECK(found.compared == 12);
  CHECK(names.empty());
}

TEST_CASE("too few nodes, or too short a past, compare with nothing") {
  MadeJob few(3);
  run(few, [&](int rank, std::int64_t, std::int64_t ms) { few.say(rank, kBeat, ms); });
  CHECK(compare(few).found.compared == 0);
  MadeJob brief(8);
  brief.iterate_all(1, 20);
  brief.say(4, kFlap, 12'500);
  CHECK(compare(brief).found.compared == 0);
}

}  // namespace
}  // namespace l4::detect::spatial
