// Clues from lines of the failure: own ones, and those about others.
#include <doctest/doctest.h>

#include "tests/aggregator/diagnose/clues/made_scene.h"

namespace l4::diagnose::clues {
namespace {

using detect::Severity;
using job::test::MadeJob;
using test::MadeScene;
using test::of_rank;

const Shares& shares() {
  return shipped_scale().shares;
}

TEST_CASE("line clues: a fatal line on one of four nodes is a cause of full strength, and told") {
  MadeJob job(4);
  job.say(2, {"CUDA error: an illegal memory access", Level::error}, 1000);
  MadeScene scene(job);
  scene.fail("CUDA", Severity::fatal);
  const auto clues = scene.clues(failures);
  const Clue& clue = of_rank(clues, 2);
  CHECK(clue.kind == ClueKind::cause);
  CHECK(clue.strength == doctest::Approx(1.0));
  CHECK(clue.told);
  CHECK(text_of(clue.facts, FactKind::count) == "1");
  CHECK(text_of(clue.facts, FactKind::of) == "4");
  CHECK(clues.size() == 1);
}

TEST_CASE("line clues: a line of all nodes is weak and not told") {
  MadeJob job(4);
  for (int rank = 0; rank < 4; ++rank) job.say(rank, {"disk is full", Level::error}, 1000);
  MadeScene scene(job);
  scene.fail("disk", Severity::fatal);
  const auto clues = scene.clues(failures);
  CHECK(clues.size() == 4);
  CHECK(of_rank(clues, 3).strength == doctest::Approx(shares().everywhere));
  CHECK_FALSE(of_rank(clues, 3).told);
}

TEST_CASE("line clues: the mildest lines count half beside one that ends a process") {
  MadeJob job(4);
  job.say(0, {"slow response", Level::warning}, 900);
  job.say(1, {"out of memory", Level::error}, 1000);
  MadeScene scene(job);
  scene.fail("slow", Severity::notice);
  const double alone = of_rank(scene.clues(failures), 0).strength;
  CHECK(alone == doctest::Approx(shares().notice));
  scene.fail("memory", Severity::fatal);
  CHECK(of_rank(scene.clues(failures), 0).strength ==
        doctest::Approx(alone * shares().beside_fatal));
}

TEST_CASE("line clues: a specific known fault strengthens its line, a general one does not") {
  MadeJob job(4);
  job.say(1, {"Xid 79 on the bus", Level::error}, 1000);
  MadeScene scene(job);
  scene.fail("Xid", Severity::failure);
  scene.hint("Xid").known_fault = true;
  CHECK(of_rank(scene.clues(failures), 1).strength ==
        doctest::Approx(shares().failure * shares().known_fault));
  scene.hint("Xid").general = true;
  CHECK(of_rank(scene.clues(failures), 1).strength == doctest::Approx(shares().failure));
}

TEST_CASE("line clues: what waits for others is an echo beside a cause, and a lead without one") {
  MadeJob job(4);
  job.say(0, {"timed out waiting for peers", Level::error}, 2000);
  job.say(3, {"segmentation fault", Level::error}, 1000);
  MadeScene scene(job);
  scene.hint("timed out").accuses_peer = true;
  scene.fail("timed out", Severity::fatal);
  CHECK(of_rank(scene.clues(failures), 0).kind == ClueKind::accuser);
  scene.fail("segmentation", Severity::fatal);
  CHECK(of_rank(scene.clues(failures), 0).kind == ClueKind::echo);
  CHECK_FALSE(of_rank(scene.clues(failures), 0).told);
  CHECK(of_rank(scene.clues(failures), 3).kind == ClueKind::cause);
}

TEST_CASE("line clues: a launcher that blames a node speaks of that one, not of itself") {
  MadeJob job(4);
  job.source_of(0).rank.reset();
  job.say(0, {"node-2 exited with code 137", Level::error}, 1000);
  job.say(0, {"the run failed", Level::error}, 1001);
  MadeScene scene(job);
  scene.accused("exited").nodes = {2};
  scene.fail("exited", Severity::fatal);
  scene.fail("run failed", Severity::fatal);
  const std::uint32_t driver = scene.view().nodes[0].ranks[0];
  for (const Clue& clue : scene.clues(failures)) {
    CHECK(clue.index == driver);
    CHECK(clue.strength == doctest::Approx(shares().reporter));
  }
  const auto said = scene.clues(accusations);
  REQUIRE(said.size() == 1);
  CHECK(said[0].kind == ClueKind::blamed);
  CHECK(said[0].index == scene.view().nodes[2].ranks[0]);
  CHECK(said[0].strength == doctest::Approx(1.0));
  CHECK(text_of(said[0].facts, FactKind::peer) == "node-0");
}

TEST_CASE("line clues: a guess of peers is less than a launcher's word; outsiders share it") {
  MadeJob job(4);
  job.say(0, {"connection closed by 10.0.0.9", Level::error}, 1000);
  MadeScene scene(job);
  scene.hint("closed").accuses_peer = true;
  scene.accused("closed").outsiders = {0, 1};
  scene.accused("closed").by_peers = true;
  scene.hints().outsiders = {{"10.0.0.9", {}}, {"10.0.0.10", {}}};
  scene.fail("closed", Severity::fatal);
  const auto said = scene.clues(accusations);
  REQUIRE(said.size() == 2);
  for (const Clue& clue : said) {
    CHECK(clue.kind == ClueKind::named_by_peers);
    CHECK(clue.whose == Whose::outsider);
    CHECK(clue.strength == doctest::Approx(0.5));
  }
}

TEST_CASE("line clues: kind 'a rank that waited': a launcher that sees it end tells of an effect") {
  for (const bool named : {true, false}) {
    CAPTURE(named);
    MadeJob job(4);
    job.say(0, {"timed out: rank 3 did not join", Level::error}, 1000);
    job.say(1, {"failed exitcode -6", Level::error}, 2000);
    MadeScene scene(job);
    scene.hint("timed out").waited = true;
    if (named) scene.accused("timed out").ranks = {3};
    scene.accused("exitcode").ranks = {0};
    scene.fail("timed out", Severity::fatal);
    scene.fail("exitcode", Severity::fatal);
    const auto said = scene.clues(accusations);
    CHECK(of_rank(said, 0).strength == doctest::Approx(named ? shares().reporter : 1.0));
    if (named) CHECK(of_rank(said, 3).strength == doctest::Approx(1.0));
  }
}

TEST_CASE("line clues: the node that fails first by more than clocks differ is told, alone") {
  MadeJob job(4);
  job.say(1, {"fault", Level::error}, 1000);
  job.say(2, {"fault", Level::error}, 5000);
  MadeScene scene(job);
  scene.fail("fault", Severity::fatal);
  const auto clues = scene.clues(order);
  CHECK(of_rank(clues, 1).kind == ClueKind::first);
  CHECK(of_rank(clues, 1).strength == doctest::Approx(1.0));
  CHECK(of_rank(clues, 1).told);
  CHECK(of_rank(clues, 2).strength == doctest::Approx(0.5));
  CHECK_FALSE(of_rank(clues, 2).told);
}

TEST_CASE("line clues: within a second nobody is told to be first") {
  MadeJob job(4);
  job.say(1, {"fault", Level::error}, 1000);
  job.say(2, {"fault", Level::error}, 1900);
  MadeScene scene(job);
  scene.fail("fault", Severity::fatal);
  const auto clues = scene.clues(order);
  CHECK(of_rank(clues, 1).strength == of_rank(clues, 2).strength);
  CHECK_FALSE(of_rank(clues, 1).told);
}

TEST_CASE("line clues: to be the first to complain about others is a kind of its own") {
  MadeJob job(4);
  job.say(1, {"lost a peer", Level::error}, 1000);
  MadeScene scene(job);
  scene.hint("lost").consequence = true;
  scene.fail("lost", Severity::failure);
  CHECK(of_rank(scene.clues(order), 1).kind == ClueKind::first_to_echo);
}

}  // namespace
}  // namespace l4::diagnose::clues
