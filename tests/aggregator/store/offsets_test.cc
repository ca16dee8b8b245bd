#include "aggregator/store/offsets.h"

#include <doctest/doctest.h>

#include "tests/aggregator/store/numbered.h"

using namespace l4;
using namespace l4::store;
using namespace l4::store::test;

namespace {

wire::Coverage part(std::uint64_t key, std::uint64_t from, std::uint64_t to,
                    std::uint64_t lines = 1) {
  wire::Coverage coverage;
  coverage.path = "rank" + std::to_string(key) + ".log";
  coverage.bytes = {from, to};
  coverage.lines = lines;
  coverage.file.key = key;
  coverage.file.inode = key + 100;
  return coverage;
}

wire::Batch batch(std::vector<wire::Coverage> parts, const std::string& agent = "node-1") {
  wire::Batch made;
  made.agent = agent;
  made.job = "job";
  made.coverage = std::move(parts);
  return made;
}

std::uint64_t offset_of(const OffsetTable& table, std::uint64_t key) {
  for (const Position& position : table.positions("node-1"))
    if (position.file.key == key) return position.offset;
  return ~std::uint64_t{0};
}

}  // namespace

TEST_CASE("offsets: committed batches advance files, with their lines") {
  OffsetTable table;
  table.commit(batch({part(1, 0, 100, 3)}), at_ms(0));
  table.commit(batch({part(1, 100, 150, 2), part(2, 0, 20)}), at_ms(0));
  table.commit(batch({part(1, 100, 150, 0)}), at_ms(0));  // offsets never go back
  REQUIRE(table.positions("node-1").size() == 2);
  const Position position = table.positions("node-1")[0];
  CHECK(position.offset == 150);
  CHECK(position.lines == 5);
  CHECK(position.path == "rank1.log");
  CHECK(position.file.inode == 101);
  table.commit(batch({part(3, 0, 0)}), at_ms(0));
  CHECK(table.files() == 2);
}

TEST_CASE("offsets: agents do not know each other's files, paths without a key are files") {
  OffsetTable table;
  wire::Coverage by_path = part(0, 0, 10), other = part(0, 0, 10);
  other.path = "other.log";
  table.commit(batch({part(1, 0, 10), by_path, other}), at_ms(0));
  table.commit(batch({part(1, 0, 10)}, "node-2"), at_ms(0));
  CHECK(table.files() == 4);
  CHECK(table.agents() == std::vector<std::string>{"node-1", "node-2"});
}

TEST_CASE("offsets: the newest batch of an agent is known, of its newest incarnation") {
  OffsetTable table;
  wire::Batch made = batch({});
  made.incarnation = 7;
  made.sequence = 3;
  table.commit(made, at_ms(0));
  CHECK(table.newest("node-1").incarnation == 7);
  CHECK(table.newest("node-1").sequence == 3);
  made.incarnation = 9;
  made.sequence = 1;
  table.commit(made, at_ms(1));
  CHECK(table.newest("node-1").incarnation == 9);
  CHECK(table.newest("node-1").sequence == 1);
  CHECK(table.newest("node-2").incarnation == 0);
}

TEST_CASE("offsets: released files are forgotten, and unknown files are not adopted") {
  OffsetTable table;
  table.commit(batch({part(1, 0, 10), part(2, 0, 10)}), at_ms(0));
  table.release("node-1", {1, 99});
  table.release("node-9", {1});
  CHECK(offset_of(table, 1) == ~std::uint64_t{0});
  CHECK(offset_of(table, 2) == 10);
  CHECK_FALSE(table.adopts("node-1"));
}

TEST_CASE("offsets: bounded; agents with evicted files are known") {
  OffsetTable table({.files_per_agent = 3, .agents = 2, .age = Millis{1000}});
  for (std::uint64_t key = 1; key <= 5; ++key)
    table.commit(batch({part(key, 0, 10)}), at_ms(static_cast<std::int64_t>(key)));
  CHECK(table.files() == 3);
  CHECK(table.stats().forgotten == 2);
  CHECK(table.adopts("node-1"));
  CHECK_FALSE(table.adopts("node-2"));
  table.commit(batch({part(1, 10, 20)}), at_ms(6));  // continued at its offset
  CHECK(offset_of(table, 1) == 20);
  CHECK(table.stats().adopted == 1);
  table.commit(batch({part(1, 0, 10)}, "node-2"), at_ms(7));
  table.commit(batch({part(1, 0, 10)}, "node-3"), at_ms(8));
  CHECK(table.agents() == std::vector<std::string>{"node-2", "node-3"});
  CHECK(table.adopts("node-1"));
  table.expire(at_ms(1008));
  CHECK(table.agents() == std::vector<std::string>{"node-3"});
}

TEST_CASE("offsets: saved and loaded they are equal; later records advance them") {
  OffsetTable table({.files_per_agent = 3});
  for (std::uint64_t key = 1; key <= 5; ++key) {
    wire::Batch made = batch({part(key, 0, 10 * key)});
    made.incarnation = 4;
    made.sequence = key;
    table.commit(made, at_ms(static_cast<std::int64_t>(key)));
  }
  ByteWriter saved;
  table.save(saved);
  OffsetTable loaded;
  REQUIRE(loaded.load(saved.bytes()));
  CHECK(loaded.positions("node-1") == table.positions("node-1"));
  CHECK(loaded.newest("node-1").sequence == 5);
  CHECK(loaded.adopts("node-1"));
  const wire::Batch later = batch({part(5, 50, 60)});
  table.commit(later, at_ms(9));
  loaded.commit(later, at_ms(9));
  CHECK(loaded.positions("node-1") == table.positions("node-1"));
  for (std::size_t size = 0; size < saved.size(); ++size)
    CHECK_FALSE(OffsetTable().load(saved.bytes().first(size)));
}
