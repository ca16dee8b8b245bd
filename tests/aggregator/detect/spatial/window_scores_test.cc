// Scores of nodes column by column: their form, and what is surprising.
#include "aggregator/detect/spatial/window_scores.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::spatial {
namespace {

using job::test::MadeJob;

const job::test::Say kSpoken{"lease renewed", Level::info};

/// 40 minutes in columns of 2; the first and last base windows are not in the period.
struct Drawn {
  explicit Drawn(MadeJob& made)
      : view(made.view()), period(*period_of(view, job::make_clock(view))) {
    for (std::int64_t window = period.first; window < period.end; window += kWide)
      bounds.push_back(window);
    bounds.push_back(period.end);
    scores = score_windows(view, NodeCounts(view, period), bounds);
  }
  static constexpr std::int64_t kWide = 12;

  Eigen::Index column_of(std::int64_t ms) const {
    return (vectors::window_at(job::test::after(ms)) - period.first) / kWide;
  }
  float at(int node, Eigen::Index column) const {
    const std::string name = "node-" + std::to_string(node);
    const auto found = std::ranges::find(view.nodes, name, &job::NodeView::name);
    return scores(found - view.nodes.begin(), column);
  }
  std::vector<ScoreTerm> terms(int node, Eigen::Index column) const {
    const std::string name = "node-" + std::to_string(node);
    const auto found = std::ranges::find(view.nodes, name, &job::NodeView::name);
    return score_terms(view, NodeCounts(view, period), bounds,
                       static_cast<std::uint32_t>(found - view.nodes.begin()),
                       static_cast<std::size_t>(column));
  }
  double largest() const { return static_cast<double>(scores.maxCoeff()); }

  job::JobView view;
  Period period;
  std::vector<std::int64_t> bounds;
  WindowScores scores;
};

template <class Each>
void train(MadeJob& made, Each each) {
  for (std::int64_t k = 1; k <= 240; ++k)
    for (int rank = 0; rank < made.ranks(); ++rank) {
      each(rank, k, k * 10'000 - 4000);
      made.iterate(rank, k, k * 10'000);
    }
}

TEST_CASE("scores of nodes that print alike are 0") {
  MadeJob made(10);
  train(made, [&](int rank, std::int64_t k, std::int64_t ms) {
    if ((k + rank) % 3 == 0) made.say(rank, kSpoken, ms);
  });
  const Drawn drawn(made);
  CHECK(drawn.scores.rows() == 10);
  CHECK(drawn.largest() == 0);
}

TEST_CASE("one new event of one node is 2 ln N, in its column alone") {
  MadeJob made(20);
  train(made, [&](int rank, std::int64_t k, std::int64_t ms) {
    if (k % 2 == 0) made.say(rank, kSpoken, ms);
    if (rank == 7 && k == 150) made.say(rank, {"link flap observed", Level::info}, ms);
  });
  const Drawn drawn(made);
  const auto column = drawn.column_of(1'496'000);
  CHECK(static_cast<double>(drawn.at(7, column)) == doctest::Approx(2 * std::log(20.0)));
  CHECK(static_cast<double>(drawn.scores.sum()) == doctest::Approx(2 * std::log(20.0)));
}

TEST_CASE("a count that is many times as large is surprising, and one that stops") {
  MadeJob made(16);
  train(made, [&](int rank, std::int64_t k, std::int64_t ms) {
    const int times = rank == 5 && k > 200 ? 9 : rank == 9 && k > 200 ? 0 : 2;
    for (int i = 0; i < times; ++i) made.say(rank, kSpoken, ms);
  });
  const Drawn drawn(made);
  const auto late = drawn.column_of(2'200'000);
  CHECK(drawn.at(5, late) > 2.5F);
  CHECK(drawn.at(9, late) > 2.5F);
  CHECK(drawn.at(4, late) == 0);
  CHECK(drawn.at(5, drawn.column_of(1'000'000)) == 0);
}

TEST_CASE("the terms of a score sum up to it, and tell the counts beside those of the peers") {
  MadeJob made(16);
  train(made, [&](int rank, std::int64_t k, std::int64_t ms) {
    const int times = rank == 5 && k > 200 ? 9 : rank == 9 && k > 200 ? 0 : 2;
    for (int i = 0; i < times; ++i) made.say(rank, kSpoken, ms);
    if (rank == 5 && k == 220) made.say(rank, {"link flap observed", Level::info}, ms);
  });
  const Drawn drawn(made);
  const auto column = drawn.column_of(2'196'000);
  const auto loud = drawn.terms(5, column);
  REQUIRE(loud.size() == 2);
  CHECK(loud[0].nats + loud[1].nats ==
        doctest::Approx(static_cast<double>(drawn.at(5, column))).epsilon(1e-4));
  const auto& more = loud[0].departure == Departure::more ? loud[0] : loud[1];
  const auto& fresh = loud[0].departure == Departure::more ? loud[1] : loud[0];
  CHECK(more.departure == Departure::more);
  CHECK(more.by_peers);
  CHECK(more.count == 108);  // 12 windows of 9
  CHECK(more.peers_median == 24);
  CHECK(more.expected > 20);
  CHECK(more.expected < 108);
  CHECK(more.alike == 2);  // the node that fell silent surprises, too
  CHECK(fresh.departure == Departure::first);
  CHECK(fresh.count > 0);  // spread over a joined window
  CHECK(fresh.count <= 1);
  CHECK(fresh.peers_median == 0);
  CHECK(fresh.nats == doctest::Approx(2 * std::log(16.0)));
  const auto quiet = drawn.terms(9, column);
  REQUIRE(quiet.size() == 1);
  CHECK(quiet[0].departure == Departure::fewer);
  CHECK(quiet[0].count == 0);
  CHECK(drawn.terms(4, column).empty());
}

TEST_CASE("counts that rise on all nodes surprise nowhere, nor do those of a role") {
  MadeJob made(12);
  train(made, [&](int rank, std::int64_t k, std::int64_t ms) {
    for (int i = 0; i < (k > 150 ? 5 : 1); ++i) made.say(rank, kSpoken, ms);
    if (rank == 0) made.say(rank, {"mean loss of all ranks", Level::info}, ms);
  });
  CHECK(Drawn(made).largest() == 0);
}

TEST_CASE("nothing is known of a node before it begins") {
  MadeJob made(8);
  train(made, [&](int rank, std::int64_t, std::int64_t ms) {
    if (rank != 3 || ms > 1'200'000) made.say(rank, kSpoken, ms);
  });
  const Drawn whole(made);
  CHECK_FALSE(std::isnan(whole.at(3, 0)));  // its iterations are lines, too
  MadeJob late(8);
  for (std::int64_t k = 1; k <= 240; ++k)
    for (int rank = 0; rank < 8; ++rank)
      if (rank != 3 || k > 120) late.iterate(rank, k, k * 10'000);
  const Drawn drawn(late);
  CHECK(std::isnan(drawn.at(3, 0)));
  CHECK(drawn.at(3, drawn.scores.cols() - 1) == 0);
  CHECK(drawn.at(2, 0) == 0);
}

}  // namespace
}  // namespace l4::detect::spatial
