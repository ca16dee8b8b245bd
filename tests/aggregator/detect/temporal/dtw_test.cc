#include "aggregator/detect/temporal/dtw.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "aggregator/detect/temporal/paper.h"

using namespace l4::detect::temporal;

namespace {

using Fields = std::vector<std::string>;

/// Tab-separated fields of each line but the header. Empty if there is no such file.
std::vector<Fields> read_fields(const std::string& name) {
  std::ifstream file(std::string(L4_SOURCE_DIR "/../shared/data/reference/") + name);
  std::vector<Fields> rows;
  if (!file) MESSAGE("skipped: no reference file " << name);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    Fields& row = rows.emplace_back();
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
  }
  return rows;
}

template <class Number>
std::vector<Number> parsed(const std::string& text) {
  std::istringstream stream(text);
  std::vector<Number> result;
  for (Number number; stream >> number;) result.push_back(number);
  return result;
}

Priced priced(const Sequence& symbols, const std::vector<double>& cost) {
  return {symbols, cost};
}

double distance(const Sequence& x, const Sequence& y, bool open_end = false) {
  const std::vector<double> extra(x.size(), 3.0);
  const std::vector<double> missing(y.size(), 5.0);
  const double result =
      directional_distance(priced(x, extra), priced(y, missing), {.open_end = open_end});
  const Alignment alignment = align(priced(x, extra), priced(y, missing), open_end);
  CHECK(alignment.distance == result);
  CHECK(alignment.extra_cost == 3.0 * static_cast<double>(alignment.extra.size()));
  return result;
}

}  // namespace

TEST_CASE("DTW with 0/1 cost") {
  struct Row {
    Sequence a, b;
    std::size_t raw, collapsed;
  };
  const Row rows[] = {{{0}, {0}, 0, 0},
                      {{0}, {1}, 1, 1},
                      {{0, 0, 0, 1}, {0, 1}, 0, 0},
                      {{0, 1, 0, 2, 0, 3, 0}, {0, 1}, 4, 4},
                      {{1, 0, 2, 0, 3, 0}, {1}, 5, 5},
                      {{0, 5, 5, 5, 5, 1}, {0, 1}, 4, 1},
                      {{}, {1, 2}, 2, 2}};
  for (const Row& row : rows) {
    CHECK(dtw_symbols(row.a, row.b) == row.raw);
    CHECK(dtw_symbols(row.b, row.a) == row.raw);
    CHECK(dtw_symbols(collapse_runs(row.a), collapse_runs(row.b)) == row.collapsed);
  }
  for (const Fields& row : read_fields("dtw_symbol_pairs.tsv")) {
    const auto a = parsed<Symbol>(row[0]);
    const auto b = parsed<Symbol>(row[1]);
    CHECK(dtw_symbols(a, b) == std::stoul(row[2]));
    CHECK(dtw_symbols(collapse_runs(a), collapse_runs(b)) == std::stoul(row[3]));
  }
}

TEST_CASE("paper scores: mean of the previous ten, three sigma of all earlier") {
  std::vector<Sequence> plain(14, Sequence{1, 2, 3});
  plain[13] = {1, 2};
  const auto inline_scores = score_iterations_paper(plain);
  CHECK(inline_scores[13].score == 1);
  CHECK(inline_scores[13].abnormal);
  CHECK_FALSE(inline_scores[12].abnormal);
  std::vector<Sequence> iterations;
  const auto rows = read_fields("dtw_window_scores.tsv");
  for (const Fields& row : rows) iterations.push_back(parsed<Symbol>(row[1]));
  const auto scores = score_iterations_paper(iterations);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(scores[i].score == doctest::Approx(std::stod(rows[i][2])).epsilon(1e-12));
    CHECK(scores[i].nearest == std::stoul(rows[i][3]));
    CHECK(scores[i].mean == doctest::Approx(std::stod(rows[i][4])).epsilon(1e-12));
    CHECK(scores[i].deviation == doctest::Approx(std::stod(rows[i][5])).epsilon(1e-12));
    CHECK(scores[i].abnormal == (rows[i][6] == "1"));
  }
}

TEST_CASE("directional distance: extra and missing events have their own price") {
  CHECK(distance({1, 2, 3}, {1, 2, 3}) == 0);
  CHECK(distance({1, 2, 9, 3}, {1, 2, 3}) == 3);
  CHECK(distance({9, 1, 2, 3}, {1, 2, 3}) == 3);
  CHECK(distance({1, 3}, {1, 2, 3}) == 5);
  CHECK(distance({1, 2, 3}, {1, 2, 3, 4, 5}) == 10);
  CHECK(distance({1, 9, 3}, {1, 2, 3}) == 5);        // replaced: the dearer of the two
  CHECK(distance({1, 3, 2, 4}, {1, 2, 3, 4}) == 0);  // neighbours swapped
  CHECK(distance({}, {1, 2}) == 10);
  CHECK(distance({7}, {}) == 3);
  CHECK(distance({}, {}) == 0);
}

TEST_CASE("an open end does not miss what may still come") {
  CHECK(distance({1, 2}, {1, 2, 3, 4}, true) == 0);
  CHECK(distance({1, 9, 2}, {1, 2, 3, 4}, true) == 3);
  CHECK(distance({2, 3}, {1, 2, 3, 4}, true) == 5);
  CHECK(distance({}, {1, 2}, true) == 0);
}

TEST_CASE("alignment names the positions that were paid") {
  const Sequence x{1, 9, 2, 3}, y{1, 2, 3, 4, 5};
  const std::vector<double> extra(4, 3.0), missing(5, 5.0);
  const Alignment alignment = align(priced(x, extra), priced(y, missing));
  CHECK(alignment.extra == std::vector<std::size_t>{1});
  CHECK(alignment.missing == std::vector<std::size_t>{3, 4});
  CHECK(alignment.extra_cost == 3);
  CHECK(alignment.missing_cost == 10);
}

TEST_CASE("stopping early never changes a distance below the limit") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Sequence x(random() % 12), y(random() % 12);
    for (Symbol& symbol : x) symbol = random() % 5;
    for (Symbol& symbol : y) symbol = random() % 5;
    const std::vector<double> extra(x.size(), 1.5), missing(y.size(), 2.0);
    const double full = directional_distance(priced(x, extra), priced(y, missing));
    const double limit = static_cast<double>(random() % 20);
    const double pruned =
        directional_distance(priced(x, extra), priced(y, missing), {.below = limit});
    if (full < limit) CHECK(pruned == full);
    if (full >= limit) CHECK(pruned >= limit);
    CHECK(align(priced(x, extra), priced(y, missing)).distance == doctest::Approx(full));
  }
}

TEST_CASE("hash tells sequences apart") {
  CHECK(hash_sequence(Sequence{1, 2}) == hash_sequence(Sequence{1, 2}));
  CHECK(hash_sequence(Sequence{1, 2}) != hash_sequence(Sequence{2, 1}));
  CHECK(hash_sequence(Sequence{0}) != hash_sequence(Sequence{0, 0}));
}
