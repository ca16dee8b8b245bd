#include "common/drain/flat_table.h"

#include <doctest/doctest.h>

#include <random>
#include <unordered_map>

namespace l4::drain {
namespace {

TEST_CASE("a flat table is a map") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  FlatTable<int> table;
  std::unordered_map<std::uint64_t, int> map;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t key = 2 + random() % 3'000;
    table[key] = i;
    map[key] = i;
    if (i % 5'000 != 4'999) continue;
    const auto keep = [](int value) { return value % 3 != 0; };
    const std::size_t before = map.size();
    std::erase_if(map, [&](const auto& entry) { return !keep(entry.second); });
    CHECK(table.keep_if(keep) == before - map.size());
    CHECK(table.size() == map.size());
  }
  for (std::uint64_t key = 0; key < 3'010; ++key) {
    const int* found = table.find(key);
    const auto expected = map.find(key);
    REQUIRE((found != nullptr) == (expected != map.end()));
    if (found != nullptr) CHECK(*found == expected->second);
  }
}

TEST_CASE("an empty table finds nothing") {
  const FlatTable<int> table;
  CHECK(table.find(7) == nullptr);
}

}  // namespace
}  // namespace l4::drain
