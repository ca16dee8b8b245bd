// Fitting confidences to a site's labels: what is found, what is refused, what is written.
#include "aggregator/fit/fit.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <random>
#include <string>

#include "aggregator/diagnose/clues/scale.h"
#include "aggregator/fit/calibration.h"
#include "aggregator/fit/table_file.h"
#include "tests/temp_folder.h"

namespace l4::fit {
namespace {

using clues::Claim;
using enum clues::GroundKind;

template <class Rows>
auto& row(Rows&& rows, clues::GroundKind kind) {
  return rows[static_cast<std::size_t>(kind)];
}

/// A table that thinks all first nodes are right with .5, and knows three grounds.
clues::GroundRows plain_table() {
  clues::GroundRows rows;
  rows.fill({0, clues::kConfidenceMost});
  row(rows, node_margin).sign = clues::Sign::up;
  row(rows, node_many).sign = clues::Sign::down;
  return rows;
}

struct Truth {
  double base = 0.4, margin = 2.0, many = -0.6;
};

double share_right(const Truth& truth, double margin, double many) {
  return 1 / (1 + std::exp(-(truth.base + truth.margin * margin + truth.many * many)));
}

/// Claims that are right as often as the weights say.
std::vector<LabelledClaim> made(std::size_t count, const Truth& truth = {},
                                std::size_t sources = 40) {
  std::mt19937_64 random(7);
  const auto draw = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
  std::vector<LabelledClaim> claims;
  for (std::size_t i = 0; i < count; ++i) {
    const double margin = draw(), many = 3 * draw();
    claims.push_back({Claim::node,
                      draw() < share_right(truth, margin, many),
                      {{node_base, 1}, {node_margin, margin}, {node_many, many}},
                      fmt::format("job-{}", i % sources)});
  }
  return claims;
}

std::vector<const LabelledClaim*> pointers(const std::vector<LabelledClaim>& claims) {
  std::vector<const LabelledClaim*> list;
  for (const LabelledClaim& claim : claims) list.push_back(&claim);
  return list;
}

TEST_CASE("fit: weights that made the claims are found") {
  const auto claims = made(4'000);
  const clues::GroundRows rows = fitted_rows(pointers(claims), plain_table(), 1);
  CHECK(row(rows, node_base).weight == doctest::Approx(0.4).epsilon(0.5));
  CHECK(row(rows, node_margin).weight == doctest::Approx(2.0).epsilon(0.15));
  CHECK(row(rows, node_many).weight == doctest::Approx(-0.6).epsilon(0.15));
  CHECK(row(rows, node_score).weight == 0);
}

TEST_CASE("fit: signs hold, whatever the claims say") {
  const auto claims = made(3'000, {0, -2, 1});
  const clues::GroundRows rows = fitted_rows(pointers(claims), plain_table(), 1);
  CHECK(row(rows, node_margin).weight == 0);
  CHECK(row(rows, node_many).weight == 0);
}

TEST_CASE("fit: few claims stay near the table, and a strong pull keeps them there") {
  const auto claims = made(40);
  clues::GroundRows table = plain_table();
  row(table, node_margin).weight = 1;
  CHECK(std::abs(row(fitted_rows(pointers(claims), table, 1e6), node_margin).weight - 1) < 1e-3);
  CHECK(row(fitted_rows({}, table, 1), node_margin).weight == 1);
}

TEST_CASE("fit: claims under a bound do not count") {
  clues::GroundRows table = plain_table();
  row(table, node_many).most = 0.5;
  const auto claims = made(500);
  CHECK(row(fitted_rows(pointers(claims), table, 1), node_margin).weight == 0);
}

TEST_CASE("fit: a better fit replaces the table's weights") {
  const FitResult result = fit_claims(Claim::node, made(400), plain_table(), {});
  CHECK_MESSAGE(result.kept.empty(), result.kept);
  CHECK(result.claims == 400);
  CHECK(result.sources == 40);
  CHECK(result.held_out.loss < result.table.loss);
  CHECK(result.held_out.error < result.table.error);
  REQUIRE(result.grounds.size() == 3);
  CHECK(result.grounds[0].kind == node_base);
  CHECK(result.grounds[0].claims == 400);
  CHECK(result.grounds[0].right == result.right);
}

TEST_CASE("fit: too few claims, wrong ones or sources are refused, each by its name") {
  const auto why = [](const std::vector<LabelledClaim>& claims) {
    const FitResult result = fit_claims(Claim::node, claims, plain_table(), {});
    CHECK(result.grounds.empty());
    return result.kept;
  };
  CHECK(why(made(59)) == "59 claims, 60 are needed");
  CHECK(why(made(400, {}, 11)) == "11 faults and jobs, 12 are needed");
  auto right = made(400);
  for (LabelledClaim& claim : right) claim.right = true;
  right[0].right = false;
  CHECK(why(right) == "1 wrong claims, 6 are needed");
  CHECK(why({}) == "0 claims, 60 are needed");
  // Claims of another kind do not help.
  CHECK(fit_claims(Claim::event, made(400), plain_table(), {}).kept == "0 claims, 60 are needed");
}

TEST_CASE("fit: a table that is right already is kept") {
  clues::GroundRows table = plain_table();
  row(table, node_base).weight = Truth{}.base;
  row(table, node_margin).weight = Truth{}.margin;
  row(table, node_many).weight = Truth{}.many;
  const FitResult result = fit_claims(Claim::node, made(400), table, {});
  CHECK(result.kept.contains("not better where it was not fitted"));
  CHECK(result.grounds.empty());
}

TEST_CASE("fit: no source is judged by a fit that saw it") {
  // Each job has a ground of its own and one of them is always wrong: only a fit that saw that job
  // could know, so its claims are held out as sure as those of the others.
  std::vector<LabelledClaim> claims;
  for (std::size_t i = 0; i < 320; ++i) {
    const std::size_t job = i % 16;
    const auto own = static_cast<clues::GroundKind>(static_cast<std::size_t>(node_score) + job % 8);
    claims.push_back({Claim::node, job > 3, {{node_base, 1}, {own, 1}}, fmt::format("{}", job)});
  }
  FitOptions options;
  options.pull = 0.1;
  clues::GroundRows table = plain_table();
  row(table, node_margin).sign = row(table, node_many).sign = clues::Sign::any;
  const FitResult blind = fit_claims(Claim::node, claims, table, options);
  for (std::size_t i = 0; i < claims.size(); ++i) claims[i].source = fmt::format("{}", i);
  const FitResult seeing = fit_claims(Claim::node, claims, table, options);
  CHECK(seeing.held_out.loss < blind.held_out.loss);
}

TEST_CASE("calibration: the error is the mean distance over five bins of equal mass") {
  std::vector<Judged> claims;
  for (int i = 0; i < 10; ++i) claims.push_back({0.9, i != 0});
  CHECK(calibration_error(claims) == doctest::Approx((0.8 + 4 * 0.2) / 10));
  CHECK(calibration_error({}) == 0);
  CHECK(log_loss(claims) == doctest::Approx(-(9 * std::log(0.9) + std::log(0.1)) / 10));
  CHECK(calibration_bound(claims, 1) == calibration_bound(claims, 1));
  CHECK(calibration_bound(claims, 1) > 0.1);
  std::vector<Judged> many;
  for (int i = 0; i < 2'000; ++i) many.push_back({0.9, i % 10 != 0});
  CHECK(calibration_bound(many, 1) < 0.05);
}

/// The file as `read_table` takes it.
Result<clues::Table> read_back(const std::string& text) {
  const l4::test::TempFolder folder;
  return clues::read_table(folder.file("site.toml", text));
}

TEST_CASE("table file: what is written is read back; other rows and comments stay") {
  const clues::GroundRows& shipped = clues::shipped_scale().grounds;
  FitResult fit;
  fit.of = Claim::node;
  fit.grounds = {{node_base, -0.25, 80, 60}, {node_margin, 1.333, 80, 60}, {node_crowd, -1, 3, 1}};
  const std::string before = R"(# of our site
[number.hang]
floor = {value = 90000, origin = "slow file systems"}

[confidence.node.margin]   # an older fit
sign = "up"
weight = 0.5
origin = "by hand"
[confidence.state.fatal]
sign = "any"
weight = 0.5
origin = "by hand"
)";
  const std::string text = with_fitted(before, fit, shipped, "2026-11-30");
  CHECK(text.starts_with("# of our site\n[number.hang]"));
  const auto table = read_back(text);
  REQUIRE_MESSAGE(table, table.error().text());
  CHECK(row(table->scale.grounds, node_base).weight == -0.25);
  CHECK(row(table->scale.grounds, node_margin).weight == 1.33);
  CHECK(row(table->scale.grounds, node_crowd).most == row(shipped, node_crowd).most);
  CHECK(row(table->scale.grounds, state_fatal).weight == 0.5);
  CHECK(row(table->scale.grounds, node_score).weight == row(shipped, node_score).weight);
  CHECK(text.contains("origin = \"fitted: 80 claims, 60 right; 2026-11-30\""));
  CHECK(with_fitted(text, fit, shipped, "2026-11-30") == text);
  CHECK(read_back(with_fitted("", fit, shipped, "x")));
}

}  // namespace
}  // namespace l4::fit
