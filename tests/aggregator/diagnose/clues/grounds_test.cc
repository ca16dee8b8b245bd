// The one form that makes confidences, and its rows of the table.
#include "aggregator/diagnose/clues/grounds.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "aggregator/diagnose/clues/scale.h"
#include "tests/temp_folder.h"

namespace l4::diagnose::clues {
namespace {

using enum GroundKind;

/// Rows without a weight or a bound.
GroundRows plain_rows() {
  GroundRows rows;
  rows.fill({0, kConfidenceMost});
  return rows;
}

GroundRow& row_of(GroundRows& rows, GroundKind kind) {
  return rows[static_cast<std::size_t>(kind)];
}

TEST_CASE("grounds: the confidence is the logistic function of value x weight, added up") {
  GroundRows rows = plain_rows();
  row_of(rows, node_margin).weight = 2;
  row_of(rows, node_many).weight = -0.5;
  const double odds = 2 * 0.75 - 0.5 * 2;
  CHECK(confidence({{node_margin, 0.75}, {node_many, 2}}, rows) ==
        doctest::Approx(1 / (1 + std::exp(-odds))));
  CHECK(confidence({}, rows) == doctest::Approx(0.5));
}

TEST_CASE("grounds: no confidence is above .99, none above the bound of a ground that holds") {
  GroundRows rows = plain_rows();
  row_of(rows, state_fatal).weight = 20;
  CHECK(confidence({{state_fatal}}, rows) == kConfidenceMost);
  row_of(rows, state_blind).most = 0.5;
  CHECK(confidence({{state_fatal}, {state_blind}}, rows) == 0.5);
  CHECK(confidence({{state_fatal}, {state_blind, 0}}, rows) == kConfidenceMost);
}

TEST_CASE("grounds: a value that is no number counts as none") {
  GroundRows rows = plain_rows();
  row_of(rows, node_score).weight = 1;
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()})
    CHECK(confidence({{node_score, value}}, rows) == doctest::Approx(0.5));
}

TEST_CASE("grounds: each has a name of its own among those of its claim") {
  std::set<std::pair<Claim, std::string_view>> names;
  for (std::size_t i = 0; i < kGroundKinds; ++i) {
    const auto kind = static_cast<GroundKind>(i);
    CHECK_FALSE(name(kind).empty());
    CHECK(names.insert({claim_of(kind), name(kind)}).second);
  }
  CHECK(claim_of(state_missing) == Claim::state);
  CHECK(claim_of(node_absent) == Claim::node);
  CHECK(claim_of(event_base) == Claim::event);
  CHECK(name(node_absent) == "absent");
  CHECK(name(event_pooled) == "pooled");
  for (std::size_t i = 0; i < kGroundKinds; ++i) {
    const auto kind = static_cast<GroundKind>(i);
    CHECK(ground_named(claim_of(kind), name(kind)) == kind);
    CHECK(claim_named(name(claim_of(kind))) == claim_of(kind));
  }
  CHECK_FALSE(ground_named(Claim::state, "margin"));
  CHECK_FALSE(claim_named("rank"));
}

TEST_CASE("grounds: of the shipped table, what the contract bounds stays below") {
  const GroundRows& rows = shipped_scale().grounds;
  const auto most = [&](GroundKind kind) { return rows[static_cast<std::size_t>(kind)].most; };
  CHECK(most(state_suspected) < 0.5);
  CHECK(most(state_blind) <= 0.5);
  CHECK(most(state_short_log) <= 0.5);
}

TEST_CASE("grounds: a weight of the wrong sign, or none, is refused with its line") {
  const l4::test::TempFolder folder;
  std::ifstream in(L4_SOURCE_DIR "/config/scoring.toml");
  const std::string shipped{std::istreambuf_iterator<char>(in), {}};
  const auto error_of = [&](const std::string& from, const std::string& to) {
    const std::string changed =
        std::regex_replace(shipped, std::regex(from), to, std::regex_constants::format_first_only);
    REQUIRE(changed != shipped);
    const auto read = read_table(folder.file("scoring.toml", changed));
    REQUIRE_FALSE(read);
    return read.error().text();
  };
  const std::string margin = "\\[confidence\\.node\\.margin\\]\nsign = \"up\"\nweight = [-.0-9]+";
  const std::string head = "[confidence.node.margin]\nsign = ";
  CHECK(error_of(margin, head + "\"up\"\nweight = -1.0").contains("must be from 0"));
  CHECK(error_of(margin, head + "\"down\"\nweight = 1.0").contains("to 0"));
  CHECK(error_of(margin, head + "\"left\"\nweight = 1.0").contains("scoring.toml:"));
  CHECK(error_of("\\[confidence\\.node\\.margin\\]", "[confidence.node.magrin]")
            .contains("magrin: unknown key"));
}

}  // namespace
}  // namespace l4::diagnose::clues
