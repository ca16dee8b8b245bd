// Counts in rolling windows: nothing is lost while windows are joined, and memory stays bounded.
#include "aggregator/vectors/count_windows.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

namespace l4::vectors {
namespace {

std::map<std::uint32_t, std::uint64_t> totals(const CountWindows& windows) {
  std::map<std::uint32_t, std::uint64_t> sums;
  windows.visit([&](Span, std::span<const Cell> cells) {
    for (const Cell& cell : cells) sums[cell.event] += cell.count;
  });
  return sums;
}

void add_one(CountWindows& windows, std::int64_t window, std::uint32_t event,
             std::uint64_t count = 1) {
  const Cell cell{event, count};
  windows.add(window, {&cell, 1});
}

TEST_CASE("counts of one window add up, by event") {
  CountWindows windows;
  const std::vector<Cell> first{{2, 3}, {7, 1}}, second{{1, 5}, {7, 400}};
  windows.add(-4, first);
  windows.add(-4, second);
  windows.add(9, {});
  std::vector<Cell> seen;
  windows.visit([&](Span span, std::span<const Cell> cells) {
    CHECK(span == Span{-4, -3});
    seen.assign(cells.begin(), cells.end());
  });
  CHECK(seen == std::vector<Cell>{{1, 5}, {2, 3}, {7, 401}});
}

TEST_CASE("the newest windows are kept one by one, older ones are joined") {
  CountWindows windows;
  for (std::int64_t i = 0; i < 10'000; ++i) add_one(windows, i, 1);
  CHECK(totals(windows).at(1) == 10'000);
  CHECK(windows.size() < 300);
  std::int64_t end = 0, fine = 0;
  windows.visit([&](Span span, std::span<const Cell>) {
    CHECK(span.first >= end);
    const std::int64_t width = span.end - span.first;
    CHECK(span.first % width == 0);
    CHECK(width <= std::max<std::int64_t>(1, 2 * (10'000 - span.first) / 16));
    fine += width == 1 ? 1 : 0;
    end = span.end;
  });
  CHECK(end == 10'000);
  CHECK(fine >= 16);
}

TEST_CASE("a log that is read after another fills the same windows") {
  std::mt19937 random(4);
  CountWindows by_file, by_time;
  std::vector<std::pair<std::int64_t, std::uint32_t>> lines;
  for (std::int64_t i = 0; i < 3000; ++i)
    lines.emplace_back(i, std::uniform_int_distribution<std::uint32_t>(0, 40)(random));
  for (const auto& [window, event] : lines)
    for (const std::uint32_t rank : {0u, 1u}) add_one(by_time, window, event + rank);
  for (const std::uint32_t rank : {0u, 1u})
    for (const auto& [window, event] : lines) add_one(by_file, window, event + rank);
  CHECK(totals(by_file) == totals(by_time));
}

TEST_CASE("forgotten events are gone from every window") {
  CountWindows windows;
  for (std::int64_t i = 0; i < 100; ++i) {
    add_one(windows, i, 3);
    if (i % 2 == 0) add_one(windows, i, 8);
  }
  add_one(windows, 100, 9);
  windows.forget({3, 9});
  CHECK(totals(windows) == std::map<std::uint32_t, std::uint64_t>{{8, 50}});
  windows.forget({8});
  CHECK(windows.empty());
}

TEST_CASE("beyond its bound a node keeps fewer windows, and at last drops the oldest") {
  CountWindows windows;
  std::vector<Cell> many;
  for (std::uint32_t event = 0; event < 5000; ++event) many.push_back({event, 1000});
  for (std::int64_t i = 0; i < 200; ++i) {
    windows.add(i, many);
    CHECK(windows.bytes() < CountWindows::kBytesMax + 20'000);
  }
  CHECK(!windows.empty());
}

TEST_CASE("windows far from any time are left out") {
  CountWindows windows;
  add_one(windows, INT64_MAX, 1);
  add_one(windows, INT64_MIN, 1);
  CHECK(windows.empty());
}

TEST_CASE("saved windows come back and go on alike; broken bytes are refused") {
  CountWindows windows;
  for (std::int64_t i = 0; i < 500; ++i) add_one(windows, i * 3, static_cast<std::uint32_t>(i % 7));
  ByteWriter out;
  windows.save(out);
  CountWindows again;
  ByteReader in(out.bytes());
  again.load(in);
  CHECK((in.ok() && in.left() == 0));
  for (std::int64_t i = 500; i < 900; ++i) {
    add_one(windows, i * 3, 2);
    add_one(again, i * 3, 2);
  }
  CHECK(totals(again) == totals(windows));
  CHECK(again.bytes() == windows.bytes());
  for (std::size_t size = 0; size + 1 < out.size(); size += 7) {
    CountWindows part;
    ByteReader cut(out.bytes().first(size));
    part.load(cut);
    CHECK_FALSE(cut.ok());
  }
}

}  // namespace
}  // namespace l4::vectors
