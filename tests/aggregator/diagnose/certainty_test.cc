// How sure reports of made jobs are, and what they say may be so instead.
#include "aggregator/diagnose/certainty.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "aggregator/diagnose/clues/scale.h"
#include "aggregator/diagnose/diagnose.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::diagnose {
namespace {

using job::test::MadeJob;

const Certainty* find(const Report& report, clues::Claim claim) {
  const auto found = std::ranges::find(report.certainty, claim, &Certainty::of);
  return found == report.certainty.end() ? nullptr : &*found;
}

double sum_of(const Certainty& certainty) {
  double sum = 0;
  for (const ClaimShare& one : certainty.alternatives) sum += one.share;
  return sum;
}

bool asks_for(const Certainty& certainty, const std::string& what) {
  return std::ranges::find(certainty.decided_by, what) != certainty.decided_by.end();
}

/// Eight ranks on eight nodes; rank 3 fails, or all do.
Report crashed(bool all) {
  MadeJob job(8);
  job.iterate_all(1, 20);
  for (int rank = 0; rank < 8; ++rank)
    if (all || rank == 3)
      job.say(rank, {"Traceback (most recent call last): RuntimeError: bad", Level::fatal}, 20'500);
  return diagnose(job.state(), {}, {}).report;
}

TEST_CASE("certainty: each claim of a failed job has a row, and the report says the same") {
  const Report report = crashed(false);
  const Certainty* const state = find(report, clues::Claim::state);
  const Certainty* const node = find(report, clues::Claim::node);
  const Certainty* const event = find(report, clues::Claim::event);
  REQUIRE(state);
  REQUIRE(node);
  REQUIRE(event);
  CHECK(state->name == "crashed");
  CHECK(state->confidence == report.verdict.confidence);
  CHECK(node->name == report.nodes.front().node);
  CHECK(node->confidence == report.nodes.front().confidence);
  CHECK(event->name == to_string(report.events.front().id));
  CHECK(event->confidence == report.events.front().confidence);
}

TEST_CASE("certainty: the shares of all alternatives add up to 1, the claim among them") {
  for (const bool all : {false, true})
    for (const Certainty& one : crashed(all).certainty) {
      CAPTURE(one.name);
      CHECK(sum_of(one) == doctest::Approx(1));
      const auto claimed = std::ranges::find(one.alternatives, one.name, &ClaimShare::name);
      REQUIRE(claimed != one.alternatives.end());
      CHECK(claimed->share == one.confidence);
    }
}

TEST_CASE("certainty: one that fails alone is surer than one of eight that fail alike") {
  const Report one = crashed(false), all = crashed(true);
  CHECK(one.nodes.front().confidence > all.nodes.front().confidence);
  for (std::size_t i = 1; i < all.nodes.size(); ++i)
    CHECK(all.nodes[i].confidence <= all.nodes[i - 1].confidence);
}

TEST_CASE("certainty: where nodes are alike, the kernel logs of those are asked for") {
  const Report report = crashed(true);
  const Certainty* const node = find(report, clues::Claim::node);
  REQUIRE(node);
  REQUIRE(node->confidence < 0.8);
  CHECK(asks_for(*node, "kernel log of " + report.nodes.front().node));
}

TEST_CASE("certainty: logs that end together say what may be so, and what would tell") {
  MadeJob job(4);
  job.iterate_all(1, 40);
  const Report report = diagnose(job.state(), {}, {}).report;
  REQUIRE(report.verdict.state == State::unknown);
  CHECK(report.verdict.confidence <= 0.5);
  const Certainty* const state = find(report, clues::Claim::state);
  REQUIRE(state);
  REQUIRE_FALSE(state->alternatives.empty());
  CHECK(sum_of(*state) == doctest::Approx(1));
  for (const ClaimShare& one : state->alternatives) CHECK(one.name != "unknown");
  CHECK(
      asks_for(*state, "the same logs some minutes later, or when they were collected (--as-of)"));
}

TEST_CASE("certainty: a doubt is a fact without which another row of the table decides") {
  const Facts silent = facts(Fact::overdue);
  REQUIRE(row_of(silent).state == State::hung);
  const std::vector<Doubt> doubts = doubts_of(silent);
  for (const Doubt& doubt : doubts) {
    CHECK(doubt.instead != State::hung);
    CHECK(row_of(silent ^ facts(doubt.fact)).state == doubt.instead);
  }
  CHECK(std::ranges::count(doubts, State::healthy, &Doubt::instead) == 1);
}

TEST_CASE("certainty: nodes share what the first leaves; none is above it, and all stay below 1") {
  for (const double first : {0.01, 0.3, 0.7, 0.99}) {
    CAPTURE(first);
    const auto shares = node_confidences({3, 3, 1}, first);
    REQUIRE(shares.size() == 3);
    CHECK(shares[0] == first);
    CHECK(shares[1] <= first);
    CHECK(shares[2] < shares[1]);
    CHECK(shares[2] > 0);
    CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) <= 1);
  }
  CHECK(node_confidences({}, 0.5).empty());
}

TEST_CASE("certainty: a table says how sure, and never who is first") {
  clues::Scale doubtful = clues::shipped_scale();
  for (clues::GroundRow& row : doubtful.grounds) row.weight = -1;
  MadeJob job(8);
  job.iterate_all(1, 20);
  job.say(3, {"Traceback (most recent call last): RuntimeError: bad", Level::fatal}, 20'500);
  Options options;
  const Report before = diagnose(job.state(), {}, options).report;
  options.scale = &doubtful;
  const Report after = diagnose(job.state(), {}, options).report;
  CHECK(after.verdict.state == before.verdict.state);
  CHECK(after.verdict.confidence < before.verdict.confidence);
  REQUIRE(after.nodes.size() == before.nodes.size());
  for (std::size_t i = 0; i < after.nodes.size(); ++i) {
    CHECK(after.nodes[i].node == before.nodes[i].node);
    CHECK(after.nodes[i].score == before.nodes[i].score);
  }
}

}  // namespace
}  // namespace l4::diagnose
