#include "aggregator/flows/streams.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace l4::flows {
namespace {

constexpr std::uint16_t kPort = 50'000;

/// A transfer between two cards, told apart by `source` and the port.
FlowRecord transfer(std::uint32_t source, std::uint32_t port, TimeNs end) {
  FlowRecord record;
  record.start = end - kMillisecond;
  record.end = end;
  record.src = Address::of_ipv4(source);
  record.dst = Address::of_ipv4((11u << 24) | source % 256);
  record.src_port = static_cast<std::uint16_t>(kPort + port);
  record.dst_port = kRocePort;
  record.protocol = 17;
  record.bytes = 1 << 20;
  record.packets = 256;
  return record;
}

}  // namespace

TEST_CASE("a hundred thousand streams take at most 300 bytes each") {
  constexpr std::size_t kStreams = 100'000, kBytesEach = 300;
  const Topology topology;
  StreamTable table(topology, 1'000);
  for (std::uint32_t i = 0; i < kStreams; ++i)
    table.add(transfer((10u << 24) | i % 10'000, i / 10'000, kSecond + i));
  REQUIRE(table.streams().size() == kStreams);
  CHECK(table.bytes() <= kStreams * kBytesEach);
  CHECK(table.rows().size() == 1'000);
}

TEST_CASE("forged sources do not make the table grow past its bounds") {
  constexpr std::uint32_t kForged = 3 * kStreamsMax;
  constexpr std::size_t kBytesMax = std::size_t{kStreamsMax} * 300;
  const Topology topology;
  StreamTable table(topology, 1'000);
  for (std::uint32_t i = 0; i < kForged; ++i) {
    FlowRecord forged = transfer(i, 0, kSecond + i);
    forged.bytes = i % 2 == 0 ? 100 : kFloorBytes;
    table.add(forged);
  }
  CHECK(table.streams().size() <= kStreamsMax);
  CHECK(table.cards().size() <= kCardsMax);
  CHECK(table.bytes() <= kBytesMax);
}

TEST_CASE("the row store holds the latest rows, the oldest first") {
  RowStore rows(5);
  for (TimeNs i = 0; i < 12; ++i) rows.push({i, i, 0, 0, 0});
  REQUIRE(rows.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(rows[i].end == static_cast<TimeNs>(7 + i));
}

TEST_CASE("rows are sorted as a stable sort does it, nearly in order or not at all") {
  std::mt19937 random(7);
  for (const TimeNs apart : {0, 3, 40, 100'000}) {
    std::vector<Row> rows;
    std::uniform_int_distribution<TimeNs> jitter(0, apart);
    for (std::uint32_t i = 0; i < 20'000; ++i) {
      Row row;
      row.end = i / 4 + jitter(random);
      row.stream = i;
      rows.push_back(row);
    }
    std::vector<Row> sorted = rows;
    std::ranges::stable_sort(sorted, {}, &Row::end);
    sort_by_end(rows);
    CHECK(std::ranges::equal(rows, sorted, {}, &Row::stream, &Row::stream));
  }
}

}  // namespace l4::flows
