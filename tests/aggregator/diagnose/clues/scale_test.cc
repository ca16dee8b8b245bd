// The table of weights: the shipped one, what is refused, and how clues add up.
#include "aggregator/diagnose/clues/scale.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "aggregator/diagnose/clues/sentence.h"
#include "aggregator/diagnose/clues/sources.h"
#include "aggregator/diagnose/suspicion.h"
#include "tests/aggregator/job/made_job.h"
#include "tests/temp_folder.h"

namespace l4::diagnose::clues {
namespace {

constexpr const char* kShipped = L4_SOURCE_DIR "/config/scoring.toml";

std::string shipped_text() {
  std::ifstream in(kShipped);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("scale: the file in the tree is the table of the programs") {
  const auto read = read_table(kShipped);
  REQUIRE(read);
  for (std::size_t kind = 0; kind < kClueKinds; ++kind) {
    CHECK(read->scale.rows[kind].weight == shipped_scale().rows[kind].weight);
    CHECK(read->scale.rows[kind].cap == shipped_scale().rows[kind].cap);
  }
  CHECK(read->scale.shares.failure == shipped_scale().shares.failure);
  CHECK(read->numbers == numbers::in_force_now());
}

TEST_CASE("scale: what a site's table leaves out is as shipped") {
  const l4::test::TempFolder folder;
  const auto read = read_table(folder.file("site.toml", R"(
[clue.behind]
weight = 1.5
origin = "our own incidents"
[share]
failure = 0.7
[number.hang]
floor = {value = 90000, origin = "slow file systems"}
)"));
  REQUIRE_MESSAGE(read, read.error().text());
  CHECK(read->scale.row(ClueKind::behind).weight == 1.5);
  CHECK(read->scale.row(ClueKind::cause).weight == shipped_scale().row(ClueKind::cause).weight);
  CHECK(read->scale.shares.failure == 0.7);
  CHECK(read->scale.shares.notice == shipped_scale().shares.notice);
  CHECK(read->scale.grounds[0].weight == shipped_scale().grounds[0].weight);
  const numbers::Values now = numbers::in_force_now();
  REQUIRE(read->numbers.size() == now.size());
  std::size_t changed = 0;
  for (std::size_t i = 0; i < now.size(); ++i) changed += read->numbers[i] != now[i] ? 1 : 0;
  CHECK(changed == 1);
}

TEST_CASE("scale: each kind has a name, a sentence and a place of its own") {
  std::set<std::string_view> names;
  for (std::size_t kind = 0; kind < kClueKinds; ++kind) {
    const auto clue = static_cast<ClueKind>(kind);
    CHECK_FALSE(name(clue).empty());
    CHECK(names.insert(name(clue)).second);
    CHECK_FALSE(sentence(clue, {}).empty());
  }
}

TEST_CASE("scale: what is refused is named with its line") {
  const l4::test::TempFolder folder;
  const auto error_of = [&](const std::string& from, const std::string& to) {
    const auto read = read_table(
        folder.file("scoring.toml", std::regex_replace(shipped_text(), std::regex(from), to,
                                                       std::regex_constants::format_first_only)));
    REQUIRE_FALSE(read);
    return read.error().text();
  };
  CHECK(error_of("\\[clue\\.cause\\]", "[clue.cuase]").contains("cuase: unknown key"));
  CHECK(error_of("weight = 4\\.0", "weight = -4.0").contains("must be from 0 to 1000"));
  CHECK(error_of("weight = 4\\.0", "weigth = 4.0").contains("weight: missing"));
  CHECK(error_of("weight = 4\\.0", "weight = \"much\"").contains("must be a number"));
  CHECK(error_of("\\[share\\]", "[shares]").contains("shares: unknown key"));
  CHECK(error_of("failure = 0\\.8", "failure = 0.8\nfailures = 1").contains("unknown key"));
  CHECK(error_of("failure = 0\\.8", "failure = 3").contains("scoring.toml:"));
}

Clue clue_of(ClueKind kind, std::uint32_t rank, double strength) {
  return {kind, Whose::rank, rank, strength, true, {}, {}};
}

TEST_CASE("scale: the strongest line counts in full and the others in part; caps hold") {
  job::test::MadeJob job(2);
  job.iterate_all(1, 3);
  const job::JobView view = job.view();
  Scale scale;
  for (ClueRow& row : scale.rows) row = {1, 10, 1};
  scale.rows[static_cast<std::size_t>(ClueKind::cause)] = {2, 10, 0.1};
  scale.rows[static_cast<std::size_t>(ClueKind::blamed)] = {1, 1.5, 1};
  Suspects suspects = weigh(view, 0,
                            {clue_of(ClueKind::cause, 0, 0.5), clue_of(ClueKind::cause, 0, 1),
                             clue_of(ClueKind::blamed, 1, 1), clue_of(ClueKind::blamed, 1, 1)},
                            scale);
  CHECK(suspects.ranks[0].score == doctest::Approx(2 + 0.1));
  CHECK(suspects.ranks[1].score == doctest::Approx(1.5));
  CHECK(suspects.clues[3].adds == doctest::Approx(0.5));
}

TEST_CASE("scale: a clue against a node counts for its most suspect rank") {
  job::test::MadeJob job(2, 2);
  job.iterate_all(1, 3);
  const job::JobView view = job.view();
  const std::uint32_t other = view.nodes[1].ranks[1];
  Clue node{ClueKind::isolated, Whose::node, 1, 1};
  const Suspects suspects =
      weigh(view, 0, {node, clue_of(ClueKind::first, other, 1)}, shipped_scale());
  CHECK(suspects.ranks[other].score ==
        doctest::Approx(shipped_scale().row(ClueKind::isolated).weight +
                        shipped_scale().row(ClueKind::first).weight));
}

}  // namespace
}  // namespace l4::diagnose::clues
