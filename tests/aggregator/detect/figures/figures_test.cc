#include "aggregator/detect/figures/figures.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "agent/segment/figure_series.h"
#include "aggregator/job/view.h"
#include "tests/aggregator/job/made_job.h"

using namespace l4;
using namespace l4::detect::figures;
using wire::FigureKind;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// What is found in `count` values, of iterations from 1 on, as an agent ships them.
std::optional<Change> found(FigureKind kind, int count, const std::function<double(int)>& value) {
  segment::FigureSeries series(SourceId{0});
  std::vector<wire::FigureWindow> windows;
  for (int i = 1; i <= count; ++i) {
    series.add(kind, "a number", Iteration{i}, value(i));
    series.release(windows, false);
  }
  series.release(windows, true);
  return change_of(windows);
}

/// A value with some noise, the same for the same seed.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  double operator()(double value, double share) {
    return value * (1 + share * std::normal_distribution<>()(random_));
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("figure changes: a loss that becomes NaN and stays") {
  Noise noise(1);
  const auto change = found(FigureKind::loss, 200, [&](int i) {
    return i < 130 ? noise(3 + 6 * std::exp(-i / 60.0), 0.02) : kNone;
  });
  REQUIRE(change);
  CHECK(change->kind == ChangeKind::not_finite);
  CHECK(change->from == Iteration{130});
  CHECK(change->count == 71);
  CHECK(std::isnan(change->value));
  CHECK(*change->usual == doctest::Approx(4.5).epsilon(0.3));
}

TEST_CASE("figure changes: a loss that is NaN from the first value on, or at the end of a crash") {
  CHECK(found(FigureKind::loss, 40, [](int) { return kNone; })->from == Iteration{1});
  CHECK(found(FigureKind::loss_term, 40, [](int i) { return i > 38 ? kInfinite : 2.0; })->from ==
        Iteration{39});
  CHECK_FALSE(found(FigureKind::loss, 5, [](int) { return kNone; }));
  CHECK_FALSE(found(FigureKind::loss, 500, [](int i) { return i % 90 == 0 ? kNone : 2.0; }));
}

TEST_CASE("figure changes: a loss that jumps and stays") {
  for (const double to : {9.5, 7000.0}) {
    Noise noise(2);
    const auto change = found(FigureKind::loss, 1000, [&](int i) {
      return i < 700 ? noise(2.2 + 8 * std::exp(-i / 50.0), 0.03) : noise(to, 0.05);
    });
    REQUIRE(change);
    CHECK(change->kind == ChangeKind::out_of_range);
    CHECK(change->from == Iteration{700});
    CHECK(*change->usual == doctest::Approx(2.2).epsilon(0.1));
  }
}

TEST_CASE("figure changes: a gradient norm that explodes, or overflows for good") {
  Noise noise(3);
  const auto explodes =
      found(FigureKind::gradient_norm, 400, [&](int i) { return noise(i < 300 ? 0.5 : 900, 0.3); });
  REQUIRE(explodes);
  CHECK(explodes->kind == ChangeKind::out_of_range);
  CHECK(explodes->from == Iteration{300});
  const auto overflows =
      found(FigureKind::gradient_norm, 400, [](int i) { return i < 300 ? 0.5 : kInfinite; });
  REQUIRE(overflows);
  CHECK(overflows->kind == ChangeKind::not_finite);
  CHECK(overflows->from == Iteration{300});
}

TEST_CASE("figure changes: a loss scale at its floor") {
  const auto change = found(FigureKind::loss_scale, 200, [](int i) {
    return i < 100 ? 65536.0 : std::max(1.0, std::ldexp(65536.0, 100 - i));
  });
  REQUIRE(change);
  CHECK(change->kind == ChangeKind::at_floor);
  CHECK(change->from == Iteration{116});
  CHECK(change->value == 1);
  CHECK(change->usual == 65536);
}

TEST_CASE("figure changes: a loss scale without a floor falls on and on") {
  const auto change =
      found(FigureKind::loss_scale, 90, [](int i) { return std::ldexp(65536.0, -i); });
  REQUIRE(change);
  CHECK(change->kind == ChangeKind::at_floor);
  CHECK(change->value < 1e-20);
}

TEST_CASE("figure changes: a rate that falls") {
  Noise noise(4);
  const auto change = found(FigureKind::rate, 600, [&](int i) {
    return noise(i < 400 ? 4000 : 2500, 0.02) * (i % 50 == 0 ? 0.3 : 1);
  });
  REQUIRE(change);
  CHECK(change->kind == ChangeKind::falls);
  CHECK(change->from == Iteration{400});
  CHECK(*change->usual == doctest::Approx(4000).epsilon(0.02));
  CHECK(change->value == doctest::Approx(2500).epsilon(0.02));
}

TEST_CASE("figure changes: a rate that has risen again is none") {
  Noise noise(5);
  const auto rate = [&](int end) {
    return found(FigureKind::rate, end, [&](int i) {
      return noise(i < 400 ? 4000 : i == 600 ? 4400 : 2500, 0.01);
    });
  };
  CHECK(rate(599));
  CHECK_FALSE(rate(600));
}

TEST_CASE("figure changes: ordinary runs have none") {
  struct Run {
    const char* what;
    FigureKind kind;
    std::function<double(int, Noise&)> value;
  };
  const Run runs[] = {
      {"a loss that falls", FigureKind::loss,
       [](int i, Noise& noise) { return noise(1.8 + 9 * std::exp(-i / 80.0), 0.05); }},
      {"a loss with spikes", FigureKind::loss,
       [](int i, Noise& noise) { return noise(i % 97 < 3 ? 30 : 2, 0.05); }},
      {"a loss that was always NaN for a batch", FigureKind::loss,
       [](int i, Noise& noise) { return i % 60 == 0 ? kNone : noise(2, 0.1); }},
      {"a loss around zero", FigureKind::loss, [](int, Noise& noise) { return noise(1, 1) - 1; }},
      {"a part that is used later", FigureKind::loss_term,
       [](int i, Noise& noise) { return i < 200 ? 0 : noise(5, 0.1); }},
      {"gradients with a heavy tail", FigureKind::gradient_norm,
       [](int, Noise& noise) { return std::exp(3 * (noise(1, 1) - 1)); }},
      {"gradients that overflow first", FigureKind::gradient_norm,
       [](int i, Noise& noise) { return i < 20 ? kInfinite : noise(0.7, 0.3); }},
      {"a loss scale that is found", FigureKind::loss_scale,
       [](int i, Noise&) { return i < 18 ? std::ldexp(1.0, 32 - i) : 32768.0; }},
      {"a loss scale that is not used", FigureKind::loss_scale, [](int, Noise&) { return 1.0; }},
      {"a rate with pauses", FigureKind::rate,
       [](int i, Noise& noise) { return noise(4000, 0.1) * (i % 20 == 0 ? 0.2 : 1); }},
      {"a rate that rises", FigureKind::rate,
       [](int i, Noise& noise) { return noise(i < 10 ? 100 : 4000, 0.1); }},
  };
  for (const Run& run : runs)
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u})
      for (const int count : {3, 30, 300, 1500}) {
        INFO(run.what, ", seed ", seed, ", ", count, " values");
        Noise noise(seed);
        CHECK_FALSE(found(run.kind, count, [&](int i) { return run.value(i, noise); }));
      }
}

namespace {

/// Four ranks print a rate at every tenth of 300 iterations; that of `falling` of them falls behind
/// iteration 180 to this part.
std::optional<Fall> fall_of(int falling, double part) {
  job::test::MadeJob job(4);
  for (int rank = 0; rank < 4; ++rank) {
    job.iterate(rank, 1, 1000);
    segment::FigureSeries series(job.source_of(rank).id);
    for (int k = 10; k <= 300; k += 10)
      series.add(FigureKind::rate, "tokens/s", Iteration{k},
                 (k > 180 && rank < falling ? part : 1) * (5000 + k % 70));
    series.release(job.figures_of(rank), true);
  }
  Options options;
  options.values_min = 5;
  options.rate_ratio_max = 0.77;
  const job::JobView view = job.view();
  return find_rate_fall(view, options);
}

}  // namespace

TEST_CASE("figure changes: a rate falls where most streams that print it say so") {
  for (const int falling : {3, 4}) {
    const auto fall = fall_of(falling, 0.6);
    REQUIRE(fall);
    CHECK(fall->from == Iteration{190});
    CHECK(fall->ratio == doctest::Approx(1 / 0.6).epsilon(0.05));
  }
  CHECK_FALSE(fall_of(2, 0.6));
  CHECK_FALSE(fall_of(4, 0.9));
  CHECK_FALSE(fall_of(0, 1));
}
