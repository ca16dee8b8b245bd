#include "aggregator/cards/nic_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace l4::cards {
namespace {

wire::NicNews news(std::uint16_t id, const std::string& name, std::int64_t from, int seconds) {
  wire::NicNews news;
  wire::NicDefinition facts;
  facts.nic = id;
  facts.name = name;
  facts.local_ranks = {0, 1};
  facts.ranks_by = wire::NicRanksBy::pci_distance;
  news.definitions.push_back(facts);
  for (int s = 0; s < seconds; ++s) {
    wire::NicSecond one;
    one.nic = id;
    one.begin = TimeMs{std::chrono::seconds{from + s}};
    one.sent = 1000;
    one.tenths.set(3, 40);
    one.first = 300;
    one.last = one.last_sent = 400;
    news.seconds.push_back(one);
  }
  news.rises.push_back({TimeMs{std::chrono::seconds{from}}, id, "symbol_error", true, 3, 9});
  return news;
}

const NicHistory& only(const NicTable& table) {
  REQUIRE(table.nics().size() == 1);
  return table.nics().begin()->second;
}

TEST_CASE("nic table: what is repeated changes nothing, what is new goes on") {
  NicTable table;
  table.apply(news(0, "eth0", 1000, 10), 100);
  table.apply(news(0, "eth0", 1000, 10), 100);
  CHECK(only(table).seconds.size() == 10);
  CHECK(only(table).rises.size() == 1);
  table.apply(news(0, "eth0", 1005, 10), 100);
  CHECK(only(table).seconds.size() == 15);
  CHECK(only(table).rises.size() == 2);
}

TEST_CASE("nic table: a card goes on under another id of a new agent; unknown ids are left out") {
  NicTable table;
  table.apply(news(0, "eth0", 1000, 10), 100);
  table.apply(news(4, "eth0", 1010, 10), 100);
  CHECK(only(table).seconds.size() == 20);
  wire::NicNews stray = news(9, "eth9", 1000, 3);
  stray.definitions.clear();
  table.apply(stray, 100);
  CHECK(table.nics().size() == 1);
}

TEST_CASE("nic table: the newest seconds are kept; a clock that was set back begins anew") {
  NicTable table;
  table.apply(news(0, "eth0", 100'000, 50), 20);
  CHECK(only(table).seconds.size() == 20);
  CHECK(only(table).seconds.back().second == 100'049);
  table.apply(news(0, "eth0", 90'000, 2), 20);
  CHECK(only(table).seconds.size() == 2);
}

TEST_CASE("nic table: what lines of NCCL told outlives an agent that has not read them") {
  NicTable table;
  wire::NicNews told = news(0, "eth0", 1000, 1);
  told.definitions.front().local_ranks = {};
  told.definitions.front().ranks = {4, 5};
  told.definitions.front().ranks_by = wire::NicRanksBy::nccl_lines;
  table.apply(told, 100);
  table.apply(news(2, "eth0", 1001, 1), 100);
  CHECK(only(table).facts.nic == 2);
  CHECK(only(table).facts.ranks == std::vector<std::int32_t>{4, 5});
  CHECK(only(table).facts.ranks_by == wire::NicRanksBy::nccl_lines);
  told.definitions.front().ranks = {6};
  table.apply(told, 100);
  CHECK(only(table).facts.ranks == std::vector<std::int32_t>{6});
}

TEST_CASE("nic table: saved and loaded it is the same") {
  NicTable table;
  table.apply(news(3, "mlx5_0/1", 1'800'000'000, 30), 100);
  ByteWriter out;
  table.save(out);
  CHECK(out.size() < 30 * 20 + 100);
  NicTable other;
  ByteReader in(out.bytes());
  other.load(in);
  CHECK(in.ok());
  CHECK(only(other).facts == only(table).facts);
  CHECK(only(other).rises == only(table).rises);
  ByteWriter again;
  other.save(again);
  CHECK(std::ranges::equal(out.bytes(), again.bytes()));
  other.apply(news(3, "mlx5_0/1", 1'800'000'030, 1), 100);
  CHECK(only(other).seconds.size() == 31);
}

}  // namespace
}  // namespace l4::cards
