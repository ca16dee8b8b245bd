#include "agent/segment/figure_series.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace l4;
using namespace l4::segment;
using wire::FigureKind;
using wire::FigureWindow;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Made {
  FigureSeries series{SourceId{3}};
  std::int64_t next = 1;
  std::vector<FigureWindow> windows;

  void add(double value, FigureKind kind = FigureKind::loss) {
    series.add(kind, "loss", Iteration{next++}, value);
  }
  void release(bool all = false) { series.release(windows, all); }
};

std::uint64_t counted(const std::vector<FigureWindow>& windows) {
  std::uint64_t count = 0;
  for (const FigureWindow& window : windows) count += window.count;
  return count;
}

}  // namespace

TEST_CASE("figure series: a number that stays as it is costs one window and one at its end") {
  Made made;
  std::mt19937_64 random(5);
  for (int i = 0; i < 10'000; ++i) {
    made.add(2.0 + 0.01 * static_cast<double>(random() % 10));
    made.release();
  }
  CHECK(made.windows.size() == 1);
  made.release(true);
  REQUIRE(made.windows.size() == 2);
  CHECK(counted(made.windows) == 10'000);
  CHECK(made.windows[0].first == Iteration{1});
  CHECK(made.windows[1].last == Iteration{10'000});
  CHECK(made.windows[1].median == doctest::Approx(2.045).epsilon(0.01));
}

TEST_CASE("figure series: values that scatter widely cost little, until they scatter elsewhere") {
  Made made;
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> low(2, 11), high(14, 23);
  for (int i = 0; i < 6'400; ++i) made.add(low(random));
  made.release();
  CHECK(made.windows.size() <= 3);
  const std::size_t before = made.windows.size();
  for (int i = 0; i < 128; ++i) made.add(high(random));
  made.release();
  REQUIRE(made.windows.size() > before);
  CHECK(made.windows.back().median > 14);
}

TEST_CASE("figure series: values that become NaN are told at the next flush, with the first one") {
  Made made;
  for (int i = 0; i < 129; ++i) made.add(8.0 - 0.02 * i);
  for (int i = 0; i < 5; ++i) {
    made.add(kNone);
    made.release();
  }
  REQUIRE_FALSE(made.windows.empty());
  const FigureWindow& last = made.windows.back();
  CHECK(std::isnan(last.final));
  FigureWindow all;
  for (const FigureWindow& window : made.windows) all = joined(all, window);
  CHECK(all.run == 4);  // told when the run had 1, then 4 values
  CHECK(all.run_from == Iteration{130});
  CHECK(all.not_finite == 4);
}

TEST_CASE("figure series: a window ends where the values jump") {
  Made made;
  for (int i = 0; i < 100; ++i) made.add(2.0 + 0.001 * (i % 7));
  for (int i = 0; i < 40; ++i) made.add(700.0 + i % 3);
  made.release(true);
  const auto& last = made.windows.back();
  CHECK(last.first == Iteration{101});
  CHECK(last.least == 700);
  CHECK(last.count == 40);
  CHECK(counted(made.windows) == 140);
}

TEST_CASE("figure series: they may jump anywhere in a window") {
  for (int at = 60; at < 140; ++at) {
    CAPTURE(at);
    FigureSeries series(SourceId{3});
    for (int i = 0; i < 200; ++i)
      series.add(FigureKind::loss, "loss", Iteration{i}, i < at ? 2.0 + 0.01 * (i % 7) : 900.0 + i);
    std::vector<FigureWindow> windows;
    series.release(windows, true);
    for (const FigureWindow& window : windows)
      CHECK((window.most < 3 || window.least > 800));  // none has values of both
    CHECK(std::ranges::any_of(windows, [&](const FigureWindow& window) {
      return window.first == Iteration{at} && window.least > 800;
    }));
  }
}

TEST_CASE("figure series: a window that begins with another range ends like any other") {
  for (const bool gap : {false, true}) {  // a value that is not finite stands between the ranges
    CAPTURE(gap);
    Made made;
    for (int i = 0; i < 64; ++i) made.add(2.0 + 0.01 * (i % 7));
    if (gap) made.add(kNone);
    for (int i = 0; i < 640; ++i) made.add(900.0 * (1 + i / 64) + i % 5);
    made.release(true);
    CHECK(counted(made.windows) == 704 + (gap ? 1U : 0U));
    CHECK(made.windows.size() >= 10);
    for (const FigureWindow& window : made.windows)
      CHECK(window.count <= FigureSeries::kWindow + FigureSeries::kOutside);
  }
}

TEST_CASE("figure series: any values are counted once, in order, and windows are few") {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
    INFO("seed ", seed);
    std::mt19937_64 random(seed);
    Made made;
    const std::uint64_t bad = random() % 4;
    std::uint64_t none = 0, given = 200 + random() % 2000;
    for (std::uint64_t i = 0; i < given; ++i) {
      const bool is_none = random() % 16 < bad;
      none += is_none;
      made.add(is_none ? kNone : static_cast<double>(random() % 1000) * (i > 500 ? 100 : 1));
      if (random() % 3 == 0) made.release();
    }
    made.release(true);
    CHECK(counted(made.windows) == given);
    std::uint64_t not_finite = 0;
    std::optional<Iteration> last;
    for (const FigureWindow& window : made.windows) {
      not_finite += window.not_finite;
      CHECK(window.count > 0);
      CHECK(window.run <= window.count);
      CHECK(window.least <= window.median);
      CHECK(window.median <= window.most);
      CHECK(window.source == SourceId{3});
      CHECK((!last || *window.first > *last));
      last = window.last;
    }
    CHECK(not_finite == none);
    CHECK(made.windows.size() <= FigureSeries::kUrgentMax + given / 8);
  }
}

TEST_CASE("figure series: numbers beyond the bound are left out") {
  FigureSeries series(SourceId{0});
  for (int i = 0; i < 20; ++i) series.add(FigureKind::rate, std::to_string(i) + " tps", {}, 1.0);
  std::vector<FigureWindow> windows;
  series.release(windows, true);
  CHECK(windows.size() == FigureSeries::kSeriesMax);
}
