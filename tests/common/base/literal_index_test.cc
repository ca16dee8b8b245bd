#include "common/base/literal_index.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace l4 {
namespace {

using Owners = std::vector<std::uint32_t>;

LiteralIndex index_of(const std::vector<std::string>& literals) {
  LiteralIndex index;
  for (std::uint32_t i = 0; i < literals.size(); ++i) index.add(literals[i], i);
  index.build();
  return index;
}

Owners found_one_by_one(const std::vector<std::string>& literals, std::string_view text) {
  Owners owners;
  for (std::uint32_t i = 0; i < literals.size(); ++i)
    if (text.contains(literals[i])) owners.push_back(i);
  return owners;
}

}  // namespace

TEST_CASE("literal index: each literal is found wherever it stands") {
  CHECK(LiteralIndex().find("anything").empty());
  const LiteralIndex index =
      index_of({"ab", "failed", "failed to", "to", "xyz", "a fail", "ed t", "xyz"});
  CHECK(index.find("").empty());
  CHECK(index.find("xyz") == Owners{4, 7});
  CHECK(index.find("failed to") == Owners{1, 2, 3, 6});
  CHECK(index.find("ab a failed") == Owners{0, 1, 5});
  CHECK(index.find("faile").empty());
}

TEST_CASE("literal index: an empty literal stands everywhere") {
  const LiteralIndex index = index_of({"", "%|", "100%|"});
  CHECK(index.find("") == Owners{0});
  CHECK(index.find("at 10%|") == Owners{0, 1});
}

TEST_CASE("literal index: the same owners as a search for one after the other") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto text = [&](std::size_t most) {
      std::string made(random() % (most + 1), ' ');
      for (char& c : made) c = static_cast<char>('a' + random() % 3);
      return made;
    };
    std::vector<std::string> literals(1 + random() % 200);
    for (std::string& literal : literals) literal = text(seed % 2 == 0 ? 3 : 9);
    const LiteralIndex index = index_of(literals);
    for (int i = 0; i < 40; ++i) {
      const std::string asked = text(40);
      CAPTURE(asked);
      REQUIRE(index.find(asked) == found_one_by_one(literals, asked));
    }
  }
}

}  // namespace l4
