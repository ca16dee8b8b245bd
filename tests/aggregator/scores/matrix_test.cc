// Matrices of scores: rows in order, columns of equal width, bounds, bytes.
#include "aggregator/scores/matrix.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "aggregator/scores/rows.h"
#include "tests/aggregator/job/made_job.h"
#include "tests/aggregator/scores/slow_once.h"

namespace l4::scores {
namespace {

using job::test::MadeJob;

using test::slow_once;

Query ask(What what) {
  Query query;
  query.what = what;
  return query;
}

TEST_CASE("a score is a number of steps, and the largest stands for all beyond") {
  CHECK(score_of(0, What::nodes) == 0);
  CHECK(score_of(-3, What::ranks) == 0);
  CHECK(score_of(1, What::nodes) == 4);
  CHECK(score_of(std::log(3.0), What::ranks) == 55);
  CHECK(score_of(1e9, What::phases) == kLargest);
  CHECK(score_of(std::nan(""), What::nodes) == kUnknown);
}

TEST_CASE("columns have equal widths and cover all") {
  const Columns few = columns_over(10, 20, 120);
  CHECK(few.count() == 10);
  CHECK(few.step == 1);
  const Columns many = columns_over(0, 1001, 100);
  CHECK(many.step == 11);
  CHECK(many.count() == 91);
  CHECK(many.at(1000) == 90);
  CHECK(columns_over(5, 5, 10).count() == 0);
  CHECK(columns_over(9, 5, 10).count() == 0);
}

TEST_CASE("a folded score is the largest that is known") {
  Score into = kUnknown;
  fold(kUnknown, into);
  CHECK(into == kUnknown);
  fold(0, into);
  CHECK(into == 0);
  fold(7, into);
  fold(3, into);
  fold(kUnknown, into);
  CHECK(into == 7);
}

TEST_CASE("only the worst rows are kept, worst first, and the others are counted") {
  WorstRows rows(2);
  for (const Score score : {3, 9, 0, 9, 5})
    rows.offer({score, kUnknown, 1}, [&](Row& row) { row.node = std::to_string(score); });
  Matrix matrix;
  rows.finish(matrix);
  REQUIRE(matrix.rows.size() == 2);
  CHECK(matrix.rows[0].node == "9");
  CHECK(matrix.rows[1].node == "9");
  CHECK(matrix.left_out == 3);
}

TEST_CASE("the rank with a slow iteration is the first row, in its column") {
  MadeJob made = slow_once();
  const auto matrix = score_matrix(made.state(), ask(What::ranks));
  REQUIRE(matrix);
  CHECK_FALSE(matrix->by_time);
  REQUIRE(matrix->rows.size() == 8);
  REQUIRE(matrix->begins.size() == 120);
  CHECK(matrix->begins.front() == 1);
  CHECK(matrix->end == 121);
  const Row& first = matrix->rows.front();
  CHECK(first.rank == Rank{5});
  CHECK(first.node == "node-2");
  CHECK(first.cells[79] == score_of(std::log(3.0), What::ranks));
  CHECK(std::ranges::count(first.cells, Score{0}) >= 110);
  CHECK(first.cells[0] == kUnknown);  // it has no iteration before it
}

TEST_CASE("folding keeps the slow iteration, and bounds choose iterations") {
  MadeJob made = slow_once();
  Query query = ask(What::ranks);
  query.width = 10;
  query.rows = 3;
  auto matrix = score_matrix(made.state(), query);
  REQUIRE(matrix);
  CHECK(matrix->begins.size() == 10);
  CHECK(matrix->left_out == 5);
  CHECK(matrix->rows.front().cells[6] == score_of(std::log(3.0), What::ranks));
  query.from = "75";
  query.to = "84";
  matrix = score_matrix(made.state(), query);
  REQUIRE(matrix);
  CHECK(matrix->begins.front() == 75);
  CHECK(matrix->end == 85);
  CHECK(matrix->rows.front().cells[5] == score_of(std::log(3.0), What::ranks));
  query.from = "2026-11-20T15:54:42Z";
  CHECK_FALSE(score_matrix(made.state(), query));
  query.from = "900";
  query.to = "";
  matrix = score_matrix(made.state(), query);
  REQUIRE(matrix);
  CHECK(matrix->begins.empty());
  CHECK(matrix->rows.empty());
}

TEST_CASE("a phase is a row of its own, named by its timer") {
  MadeJob made = slow_once();
  const auto matrix = score_matrix(made.state(), ask(What::phases));
  REQUIRE(matrix);
  const Row& first = matrix->rows.front();
  CHECK(first.rank == Rank{5});
  CHECK(first.phase == MadeJob::kTimers[0]);
  const double ratio = (29'000.0 + 1) / (9000.0 + 1);
  CHECK(first.cells[79] == score_of(std::log(ratio), What::phases));
  CHECK(matrix->rows[1].cells[79] == 0);
}

TEST_CASE("nodes are scored by time, at the node that prints something odd") {
  MadeJob made(12);
  for (std::int64_t k = 1; k <= 200; ++k)
    for (int rank = 0; rank < 12; ++rank) {
      made.say(rank, {"lease renewed", Level::info}, k * 10'000 - 4000);
      if (rank == 4 && k == 120) made.say(rank, {"a fan turns slower", Level::info}, 1'195'000);
      made.iterate(rank, k, k * 10'000);
    }
  Query query = ask(What::nodes);
  const auto matrix = score_matrix(made.state(), query);
  REQUIRE(matrix);
  CHECK(matrix->by_time);
  REQUIRE(matrix->rows.size() == 12);
  CHECK(matrix->begins.size() <= 120);
  const Row& first = matrix->rows.front();
  CHECK(first.node == "node-4");
  const auto worst = std::ranges::max_element(first.cells, {}, [](Score s) { return s % 255; });
  CHECK(*worst == score_of(2 * std::log(12.0), What::nodes));
  const auto at = static_cast<std::size_t>(worst - first.cells.begin());
  const std::int64_t odd = job::test::after(1'195'000).time_since_epoch().count();
  CHECK(matrix->begins[at] <= odd);
  CHECK(odd < (at + 1 < matrix->begins.size() ? matrix->begins[at + 1] : matrix->end));
  query.from = "soon";
  CHECK_FALSE(score_matrix(made.state(), query));
  query.from = to_rfc3339(job::test::after(1'190'000));
  const auto part = score_matrix(made.state(), query);
  REQUIRE(part);
  CHECK(part->rows.front().node == "node-4");
  CHECK(part->begins.front() >= odd - 15'000);
}

TEST_CASE("the course tells what iterations and phases take, on average and at most") {
  MadeJob made = slow_once();
  auto matrix = score_matrix(made.state(), ask(What::ranks));
  REQUIRE(matrix);
  REQUIRE(matrix->course.size() == 1);
  const Course& whole = matrix->course.front();
  CHECK(whole.phase.empty());
  REQUIRE(whole.mean_ms.size() == 120);
  CHECK_FALSE(whole.mean_ms[0]);  // no iteration before it
  CHECK(*whole.most_ms[79] > 29'000);
  CHECK(*whole.mean_ms[79] > 12'000);
  CHECK(*whole.mean_ms[79] < 13'000);
  CHECK(*whole.most_ms[40] < 10'100);
  Query query = ask(What::phases);
  query.width = 10;
  query.rows = 1;  // all ranks count, however few rows are asked for
  matrix = score_matrix(made.state(), query);
  REQUIRE(matrix);
  REQUIRE_FALSE(matrix->course.empty());
  CHECK(matrix->course.front().phase == MadeJob::kTimers[0]);
  REQUIRE(matrix->course.front().most_ms.size() == 10);
  CHECK(matrix->course.front().most_ms[6] == 29'000);
  CHECK(*matrix->course.front().mean_ms[6] < 9300);
  CHECK(matrix->course.front().mean_ms[2] == 9000);
  matrix = score_matrix(made.state(), ask(What::nodes));
  REQUIRE(matrix);
  CHECK(matrix->course.empty());
}

TEST_CASE("a job that has told nothing yet has no columns") {
  MadeJob made(4);
  for (const What what : {What::nodes, What::ranks, What::phases}) {
    const auto matrix = score_matrix(made.state(), ask(what));
    REQUIRE(matrix);
    CHECK(matrix->begins.empty());
  }
}

}  // namespace
}  // namespace l4::scores
