// Counts gathered by window give the same vectors as counts added one by one.
#include "aggregator/vectors/tally.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <tuple>

namespace l4::vectors {
namespace {

using Noted = std::tuple<std::uint32_t, std::int64_t, std::vector<Cell>>;

std::vector<Noted> drained(Tally& tally) {
  std::vector<Noted> all;
  tally.drain([&](const WindowOf& of, std::span<const Cell> cells) {
    all.emplace_back(of.node, of.window, std::vector(cells.begin(), cells.end()));
  });
  return all;
}

TEST_CASE("counts of a window are joined, windows come by segment and number") {
  Tally tally;
  tally.next_segment();
  tally.note({0, true, 9}, {7, 1});
  tally.note({0, true, 8}, {3, 2});
  tally.note({0, true, 9}, {2, 5});
  tally.next_segment();
  tally.note({0, true, 7}, {1, 1});
  tally.note({0, true, 9}, {7, 4});
  CHECK(tally.windows() == 3);
  CHECK(drained(tally) ==
        std::vector<Noted>{{0, 8, {{3, 2}}}, {0, 9, {{2, 5}, {7, 5}}}, {0, 7, {{1, 1}}}});
  CHECK(tally.windows() == 0);
  CHECK(drained(tally).empty());
}

TEST_CASE("events in any order are counted once each") {
  constexpr std::array<std::array<std::uint32_t, 4>, 5> kRanks{
      {{1, 5, 3, 9}, {1, 5, 3, 9}, {5, 1, 9, 3}, {3, 3, 3, 3}, {1, 5, 3, 9}}};
  Tally tally;
  std::array<std::uint64_t, 10> asked{};
  for (std::uint32_t rank = 0; rank < kRanks.size(); ++rank) {
    tally.next_segment();
    for (const std::uint32_t event : kRanks.at(rank)) {
      tally.note({0, true, 4}, {event, rank + 1});
      asked.at(event) += rank + 1;
    }
  }
  CHECK(drained(tally) ==
        std::vector<Noted>{{0, 4, {{1, asked[1]}, {3, asked[3]}, {5, asked[5]}, {9, asked[9]}}}});
}

TEST_CASE("windows of time and of iterations, and those of other nodes, keep apart") {
  Tally tally;
  tally.note({0, true, 4}, {1, 1});
  tally.note({0, false, 4}, {1, 2});
  tally.note({1, true, 4}, {1, 3});
  CHECK(tally.windows() == 3);
  std::uint64_t sum = 0;
  tally.drain([&](const WindowOf& of, std::span<const Cell> cells) {
    REQUIRE(cells.size() == 1);
    CHECK(cells.front().count == (of.node == 1 ? 3 : of.timed ? 1 : 2));
    sum += cells.front().count;
  });
  CHECK(sum == 6);
}

TEST_CASE("gathered counts fold as those added one by one") {
  std::mt19937 random(11);
  const auto below = [&](std::uint32_t most) { return random() % most; };
  CountWindows one_by_one, gathered;
  Tally tally;
  const auto add = [&](const WindowOf& of, std::span<const Cell> cells) {
    gathered.add(of.window, cells);
  };
  for (std::int64_t batch = 0; batch < 400; ++batch) {
    for (std::uint32_t segment = 0; segment < 8; ++segment) {
      tally.next_segment();
      std::array<std::vector<Cell>, 3> counts;
      for (std::uint32_t event = 0; event < 5; ++event)
        counts[below(3)].push_back({event, 1 + below(200)});
      const std::int64_t first = 2 * batch - below(9);
      for (std::int64_t i = 0; i < 3; ++i) {
        const auto& cells = counts[static_cast<std::size_t>(i)];
        one_by_one.add(first + i, cells);
        for (const Cell& cell : cells) tally.note({0, true, first + i}, cell);
      }
    }
    tally.drain(add);
  }
  const auto saved = [](const CountWindows& windows) {
    ByteWriter out;
    windows.save(out);
    return std::vector(out.bytes().begin(), out.bytes().end());
  };
  CHECK(saved(gathered) == saved(one_by_one));
  CHECK(gathered.size() > 16);
}

}  // namespace
}  // namespace l4::vectors
