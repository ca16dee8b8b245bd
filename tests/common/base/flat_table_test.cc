#include "common/base/flat_table.h"

#include <doctest/doctest.h>

#include <random>
#include <unordered_map>

namespace l4 {
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

TEST_CASE("a flat table forgets single keys") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  FlatTable<int> table;
  std::unordered_map<std::uint64_t, int> map;
  for (int i = 0; i < 50'000; ++i) {
    // Few low bits, so that runs are long and wrap around the end.
    const std::uint64_t key =
        (2 + random() % 6) | ((random() % 40) << 32) | (random() % 2 ? 56 : 0);
    if (random() % 2 == 0) {
      table[key] = map[key] = i;
    } else {
      CHECK(table.erase(key) == (map.erase(key) > 0));
    }
    REQUIRE(table.size() == map.size());
    const int* found = table.find(key);
    REQUIRE((found != nullptr) == map.contains(key));
  }
  for (const auto& [key, value] : map) {
    REQUIRE(table.find(key) != nullptr);
    CHECK(*table.find(key) == value);
  }
}

TEST_CASE("an empty table finds nothing") {
  const FlatTable<int> table;
  CHECK(table.find(7) == nullptr);
}

}  // namespace
}  // namespace l4
