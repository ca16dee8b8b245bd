// Terms of one cell: the columns are those of the matrix, its score is theirs, peers stand beside.
#include "aggregator/scores/terms.h"

#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/aggregator/job/made_job.h"
#include "tests/aggregator/scores/slow_once.h"

namespace l4::scores {
namespace {

using job::test::MadeJob;

TermsQuery ask(What what, const std::string& node, const std::string& at) {
  TermsQuery query;
  query.matrix.what = what;
  query.node = node;
  query.at = at;
  return query;
}

TEST_CASE("a slow iteration has its duration, the usual one and that of the peers") {
  MadeJob made = test::slow_once(true);
  const auto terms = cell_terms(made.state(), ask(What::ranks, "node-2", "80"));
  REQUIRE(terms);
  REQUIRE(*terms);
  CHECK((*terms)->begin == 80);
  CHECK((*terms)->end == 81);
  CHECK((*terms)->score == doctest::Approx(std::log(3.0)).epsilon(0.01));
  REQUIRE((*terms)->laps.size() == 2);
  const LapTerm& slow = (*terms)->laps.front();
  CHECK(slow.rank == Rank{5});
  CHECK(slow.iteration == 80);
  CHECK(slow.ms == doctest::Approx(30'000).epsilon(0.01));
  CHECK(slow.usual_ms == doctest::Approx(10'000).epsilon(0.01));
  CHECK(slow.exact_ms == 1);
  CHECK(slow.peers == 6);
  REQUIRE(slow.peers_ms);
  CHECK(*slow.peers_ms == doctest::Approx(10'000).epsilon(0.01));
  CHECK((*terms)->laps.back().score < 0.01);
}

TEST_CASE("stamps of whole seconds tell no less, and timers without stamps tell milliseconds") {
  const auto exact_of = [](bool stamped) {
    MadeJob made(2);
    for (std::int64_t k = 1; k <= 20; ++k)
      for (int rank = 0; rank < 2; ++rank)
        made.iterate(rank, k, stamped ? std::optional<std::int64_t>(k * 1000) : std::nullopt,
                     k == 10 ? 600 : 200);
    const auto terms = cell_terms(made.state(), ask(What::ranks, "node-0", "10"));
    REQUIRE(terms);
    REQUIRE(*terms);
    REQUIRE((*terms)->laps.size() == 1);
    return std::pair((*terms)->laps[0].exact_ms, (*terms)->score);
  };
  CHECK(exact_of(true).first == 1000);
  const auto [exact, score] = exact_of(false);
  CHECK(exact == 1);
  CHECK(score == doctest::Approx(std::log(601.0 / 201.0)));
}

TEST_CASE("a folded column shows the iteration that stands out most") {
  MadeJob made = test::slow_once(true);
  TermsQuery query = ask(What::phases, "node-2", "75");
  query.matrix.width = 10;
  const auto terms = cell_terms(made.state(), query);
  REQUIRE(terms);
  REQUIRE(*terms);
  CHECK((*terms)->end - (*terms)->begin == 12);
  REQUIRE_FALSE((*terms)->laps.empty());
  CHECK((*terms)->laps.front().iteration == 80);
  CHECK_FALSE((*terms)->laps.front().phase.empty());
  CHECK((*terms)->laps.front().ms == 29'000);
  query.phase = "no such phase";
  const auto none = cell_terms(made.state(), query);
  REQUIRE(none);
  REQUIRE(*none);
  CHECK((*none)->laps.empty());
}

TEST_CASE("lines of a node sum up to the score of its cell in the matrix") {
  MadeJob made = test::slow_once(true);
  Query query;
  query.width = 20;
  const auto matrix = score_matrix(made.state(), query);
  REQUIRE(matrix);
  const Row& first = matrix->rows.front();
  CHECK(first.node == "node-3");
  std::size_t column = 0;
  while (first.cells[column] == 0) ++column;
  TermsQuery asked = ask(What::nodes, "node-3", to_rfc3339(TimeMs{Millis{matrix->begins[column]}}));
  asked.matrix.width = 20;
  const auto terms = cell_terms(made.state(), asked);
  REQUIRE(terms);
  REQUIRE(*terms);
  CHECK((*terms)->begin == matrix->begins[column]);
  CHECK(score_of((*terms)->score, What::nodes) == first.cells[column]);
  REQUIRE((*terms)->lines.size() == 1);
  CHECK((*terms)->lines.front().text == "link flap observed");
  CHECK((*terms)->nodes == 4);
}

TEST_CASE("several cells are told as each alone, and those that are not there are nothing") {
  MadeJob made = test::slow_once(true);
  const std::vector<TermsQuery> queries{
      ask(What::ranks, "node-2", "80"), ask(What::ranks, "node-9", "80"),
      ask(What::ranks, "node-2", "soon"), ask(What::phases, "node-2", "80")};
  const auto all = terms_of_cells(made.state(), queries);
  REQUIRE(all.size() == 4);
  for (const std::size_t there : {0, 3}) {
    REQUIRE(all[there]);
    CHECK(all[there]->what == queries[there].matrix.what);
    CHECK(all[there]->score == cell_terms(made.state(), queries[there]).value()->score);
    CHECK(all[there]->score > 1);
  }
  CHECK_FALSE(all[1]);
  CHECK_FALSE(all[2]);
  CHECK(terms_of_cells(made.state(), {}).empty());
}

TEST_CASE("what is not there is nothing, and what is no place an error") {
  MadeJob made = test::slow_once(true);
  const auto nobody = cell_terms(made.state(), ask(What::ranks, "node-9", "80"));
  REQUIRE(nobody);
  CHECK_FALSE(*nobody);
  const auto later = cell_terms(made.state(), ask(What::ranks, "node-2", "900"));
  REQUIRE(later);
  CHECK_FALSE(*later);
  CHECK_FALSE(cell_terms(made.state(), ask(What::ranks, "node-2", "soon")));
  CHECK_FALSE(cell_terms(made.state(), ask(What::nodes, "node-2", "soon")));
}

}  // namespace
}  // namespace l4::scores
