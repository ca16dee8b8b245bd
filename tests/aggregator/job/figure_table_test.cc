#include "aggregator/job/figure_table.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <string>

using namespace l4;
using namespace l4::job;
using wire::FigureWindow;

namespace {

FigureWindow window(std::int64_t first, double median, std::string name = "loss") {
  FigureWindow made;
  made.name = std::move(name);
  made.first = Iteration{first};
  made.last = Iteration{first + 9};
  made.count = 10;
  made.run = 1;
  made.run_from = made.last;
  made.least = median - 1;
  made.median = median;
  made.most = median + 1;
  made.final = median;
  return made;
}

std::uint64_t counted(const FigureTable& table, std::string_view name) {
  std::uint64_t count = 0;
  for (const FigureWindow& one : table.windows()) count += one.name == name ? one.count : 0;
  return count;
}

}  // namespace

TEST_CASE("figure table: the oldest windows of the busiest number join, and no value is lost") {
  FigureTable table;
  for (int i = 0; i < 500; ++i) {
    table.add(window(10 * i, 3, "loss"));
    if (i % 100 == 0) table.add(window(10 * i, 7, "grad norm"));
  }
  CHECK(table.windows().size() == FigureTable::kWindowsMax);
  CHECK(counted(table, "loss") == 5000);
  CHECK(counted(table, "grad norm") == 50);
  std::optional<Iteration> last;
  for (const FigureWindow& one : table.windows()) {
    if (one.name != "loss") continue;
    CHECK((!last || *one.first > *last));
    last = one.last;
  }
  CHECK(last == Iteration{4999});
  CHECK(table.windows().back().median == 3);
}

TEST_CASE("figure table: more numbers than the bound are left out") {
  FigureTable table;
  for (int i = 0; i < 50; ++i) table.add(window(i, 1, "number " + std::to_string(i)), 1);
  CHECK(table.windows().size() == FigureTable::kNumbersMax);
}

TEST_CASE("figure table: windows that follow each other are one in any grouping") {
  std::mt19937_64 random(7);
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (int round = 0; round < 200; ++round) {
    std::vector<FigureWindow> windows;
    for (int i = 0; i < 6; ++i) {
      windows.push_back(window(10 * i, static_cast<double>(random() % 5)));
      if (random() % 2 == 0) continue;
      FigureWindow& last = windows.back();
      last.not_finite = last.run = random() % 2 == 0 ? last.count : 3;
      last.final = none;
      last.run_from = Iteration{10 * i + 10 - static_cast<std::int64_t>(last.run)};
    }
    FigureWindow left = windows[0], right = windows[5];
    for (int i = 1; i < 6; ++i) left = joined(left, windows[static_cast<std::size_t>(i)]);
    for (int i = 4; i >= 0; --i) right = joined(windows[static_cast<std::size_t>(i)], right);
    CHECK(left.count == right.count);
    CHECK(left.not_finite == right.not_finite);
    CHECK(left.run == right.run);
    CHECK(left.run_from == right.run_from);
    CHECK(left.first == right.first);
    if (left.finite() > 0) CHECK(left.median == doctest::Approx(right.median));
  }
}

TEST_CASE("figure table: saved and loaded, it is the same") {
  FigureTable table;
  table.add(window(1, 2.5));
  table.add(window(11, std::numeric_limits<double>::max()));
  ByteWriter out;
  table.save(out);
  FigureTable again;
  ByteReader in(out.bytes());
  again.load(in);
  CHECK(in.ok());
  CHECK(again.windows() == table.windows());
}
