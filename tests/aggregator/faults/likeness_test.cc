// Guesses for lines that show no known fault: how often they are right, and when there is none.
#include "aggregator/faults/likeness.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "aggregator/faults/library.h"

namespace l4::faults {
namespace {

const Library& shipped_library() {
  static const Library loaded = [] {
    auto result = Library::load(L4_SOURCE_DIR "/config/faults");
    if (!result) FAIL(result.error().text());
    return std::move(*result);
  }();
  return loaded;
}

TEST_CASE("likeness: words of a line") {
  const std::vector<std::string> words = words_of("NCCLError: rank3 CamelCase x, no_file NCCL");
  CHECK(words == std::vector<std::string>{"camel", "case", "error", "file", "nccl", "no", "rank"});
  CHECK(words_of("1 2 <*> é").empty());
}

TEST_CASE("likeness: there is no guess without likeness") {
  const Likeness& likeness = shipped_library().likeness();
  for (const char* text : {"", "12 <*>", "zyxwv qponm lkjih", "the blue cat sat upon a hill"}) {
    CAPTURE(text);
    CHECK_FALSE(likeness.place({std::vector<std::string>{text}}));
  }
  CHECK_FALSE(Likeness(std::span<const Fault>()).nearest("NCCL failed"));
}

TEST_CASE("likeness: the nearest faults, with the words that they share") {
  const Likeness& likeness = shipped_library().likeness();
  const Fault* known = shipped_library().find("oom_cgroup");
  REQUIRE(known != nullptr);
  const auto near = likeness.near(known->matches.front(), 3);
  REQUIRE(near.size() == 3);
  CHECK(near[0].likeness >= near[1].likeness);
  CHECK(near[1].likeness >= near[2].likeness);
  CHECK(near[0].likeness <= 1.0001);
  for (const Likeness::Near& one : near) {
    REQUIRE_FALSE(one.shared.empty());
    CHECK(one.shared.size() <= Likeness::kSharedMax);
    const auto words = words_of(known->matches.front());
    for (const std::string& word : one.shared) CHECK(std::ranges::binary_search(words, word));
  }
  CHECK(likeness.near("12 <*>", 3).empty());
  CHECK(likeness.near("zyxwv qponm lkjih", 3).empty());
}

TEST_CASE("likeness: a line with other words for a known kind of fault") {
  const std::vector<std::string> texts{
      "zyxwv qponm", "NVRM: GPU memory page retirement of the framebuffer failed"};
  const auto placed = shipped_library().likeness().place(texts);
  REQUIRE(placed);
  CHECK(placed->category == Category::hardware);
  CHECK(placed->subcategory == "accelerator");
  CHECK(placed->nearest != nullptr);
  CHECK(placed->confidence <= Likeness::kConfidenceMax);
}

/// Each family is left out in turn: guesses for its lines are right as often as they claim.
TEST_CASE("likeness: confidence is the share of right answers") {
  std::set<std::string> families;
  for (const Fault& fault : shipped_library().faults()) families.insert(fault.family);
  double said = 0;
  std::size_t placed = 0, right = 0, all = 0;
  for (const std::string& family : families) {
    std::vector<Fault> others;
    for (const Fault& fault : shipped_library().faults())
      if (fault.family != family) others.push_back(fault);
    const Likeness likeness{std::span<const Fault>(others)};
    for (const Fault& fault : shipped_library().faults()) {
      if (fault.family != family || fault.consequence || fault.severity == Level::info) continue;
      ++all;
      const auto one = likeness.place({&fault.matches.front(), 1});
      if (!one) continue;
      ++placed;
      said += one->confidence;
      right += one->category == fault.category && one->subcategory == fault.subcategory ? 1 : 0;
    }
  }
  const double share = static_cast<double>(right) / static_cast<double>(placed);
  MESSAGE(placed, " of ", all, " placed, ", share, " of them right, ",
          said / static_cast<double>(placed), " said");
  CHECK(placed * 10 > all);  // enough lines get a guess
  CHECK(share >= said / static_cast<double>(placed) - 0.02);
}

}  // namespace
}  // namespace l4::faults
