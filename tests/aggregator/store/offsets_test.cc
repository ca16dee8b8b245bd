#include "aggregator/store/offsets.h"

#include <doctest/doctest.h>

#include "tests/aggregator/store/numbered.h"

using namespace l4;
using namespace l4::store;
using namespace l4::store::test;
using What = Decision::What;

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

What take(OffsetTable& table, const wire::Batch& made, std::int64_t ms = 0) {
  const Decision decision = table.decide(made);
  if (decision.what == What::apply) table.commit(made, at_ms(ms));
  return decision.what;
}

std::uint64_t offset_of(const OffsetTable& table, std::uint64_t key) {
  for (const Position& position : table.positions("node-1"))
    if (position.file.key == key) return position.offset;
  return ~std::uint64_t{0};
}

}  // namespace

TEST_CASE("offsets: from = committed is applied, to <= committed ignored") {
  OffsetTable table;
  CHECK(take(table, batch({part(1, 0, 100, 3)})) == What::apply);
  CHECK(take(table, batch({part(1, 100, 150, 2)})) == What::apply);
  CHECK(take(table, batch({part(1, 100, 150, 2)})) == What::ignore);
  CHECK(take(table, batch({part(1, 0, 100, 3)})) == What::ignore);
  CHECK(take(table, batch({part(1, 20, 60)})) == What::ignore);
  REQUIRE(table.positions("node-1").size() == 1);
  const Position position = table.positions("node-1")[0];
  CHECK(position.offset == 150);
  CHECK(position.lines == 5);
  CHECK(position.path == "rank1.log");
  CHECK(position.file.inode == 101);
  CHECK(table.stats().applied == 2);
  CHECK(table.stats().ignored == 3);
}

TEST_CASE("offsets: a gap and half a batch are refused with the wanted offset") {
  OffsetTable table;
  take(table, batch({part(1, 0, 100)}));
  const Decision gap = table.decide(batch({part(1, 120, 140)}));
  CHECK(gap.what == What::refuse);
  REQUIRE(gap.wanted.size() == 1);
  CHECK(gap.wanted[0].offset == 100);
  CHECK(gap.wanted[0].file.key == 1);
  const Decision half = table.decide(batch({part(1, 80, 140)}));
  CHECK(half.what == What::refuse);
  CHECK(half.wanted[0].offset == 100);
  const Decision unknown = table.decide(batch({part(2, 10, 20)}));
  CHECK(unknown.what == What::refuse);
  CHECK(unknown.wanted[0].offset == 0);
  CHECK(table.stats().refused == 3);
  CHECK(offset_of(table, 1) == 100);
}

TEST_CASE("offsets: several files go on together or not at all") {
  OffsetTable table;
  CHECK(take(table, batch({part(1, 0, 10), part(2, 0, 20)})) == What::apply);
  const Decision mixed = table.decide(batch({part(1, 10, 30), part(2, 0, 20)}));
  CHECK(mixed.what == What::refuse);
  REQUIRE(mixed.wanted.size() == 2);
  CHECK(mixed.wanted[0].offset == 10);
  CHECK(mixed.wanted[1].offset == 20);
  const Decision gap = table.decide(batch({part(1, 10, 30), part(2, 25, 30)}));
  REQUIRE(gap.wanted.size() == 1);
  CHECK(gap.wanted[0].file.key == 2);
  CHECK(take(table, batch({part(1, 10, 30), part(2, 20, 25)})) == What::apply);
  CHECK(take(table, batch({part(1, 10, 30), part(2, 20, 25)})) == What::ignore);
}

TEST_CASE("offsets: a file twice in a batch, empty ranges, no ranges") {
  OffsetTable table;
  CHECK(take(table, batch({part(1, 0, 10), part(1, 10, 20)})) == What::apply);
  CHECK(offset_of(table, 1) == 20);
  CHECK(take(table, batch({part(1, 0, 10), part(1, 10, 20)})) == What::ignore);
  CHECK(take(table, batch({part(1, 20, 20), part(2, 0, 5)})) == What::apply);
  CHECK(take(table, batch({part(1, 5, 5)})) == What::apply);
  CHECK(table.decide(batch({part(1, 21, 21)})).what == What::refuse);
  CHECK(take(table, batch({})) == What::apply);
  CHECK(table.decide(batch({part(3, 0, 9), part(3, 0, 9)}, "node-9")).what == What::refuse);
}

TEST_CASE("offsets: agents do not know each other's files, paths without a key are files") {
  OffsetTable table;
  CHECK(take(table, batch({part(1, 0, 10)})) == What::apply);
  CHECK(take(table, batch({part(1, 0, 10)}, "node-2")) == What::apply);
  wire::Coverage by_path = part(0, 0, 10), other = part(0, 0, 10);
  other.path = "other.log";
  CHECK(take(table, batch({by_path})) == What::apply);
  CHECK(take(table, batch({other})) == What::apply);
  CHECK(take(table, batch({by_path})) == What::ignore);
  CHECK(table.files() == 4);
  CHECK(table.agents() == std::vector<std::string>{"node-1", "node-2"});
}

TEST_CASE("offsets: what is skipped is accounted for by its bytes without lines") {
  OffsetTable table;
  CHECK(take(table, batch({part(1, 0, 1'000'000, 0), part(1, 1'000'000, 1'000'100, 2)})) ==
        What::apply);
  CHECK(table.positions("node-1")[0].lines == 2);
}

TEST_CASE("offsets: bounded; what was let go is never counted twice") {
  OffsetTable table({.files_per_agent = 3, .agents = 2, .age = Millis{1000}});
  for (std::uint64_t key = 1; key <= 5; ++key)
    take(table, batch({part(key, 0, 10)}), static_cast<std::int64_t>(key));
  CHECK(table.files() == 3);
  CHECK(table.stats().forgotten == 2);
  CHECK(take(table, batch({part(1, 10, 20)}), 6) == What::apply);  // taken on where it stands
  CHECK(offset_of(table, 1) == 20);
  CHECK(table.stats().adopted == 1);
  take(table, batch({part(1, 0, 10)}, "node-2"), 7);
  take(table, batch({part(1, 0, 10)}, "node-3"), 8);
  CHECK(table.agents() == std::vector<std::string>{"node-2", "node-3"});
  CHECK(take(table, batch({part(4, 500, 600)}), 9) == What::apply);
  table.expire(at_ms(1008));
  CHECK(table.agents() == std::vector<std::string>{"node-1", "node-3"});
}

TEST_CASE("offsets: saved and loaded they decide the same; later records bring them on") {
  OffsetTable table({.files_per_agent = 3});
  for (std::uint64_t key = 1; key <= 5; ++key)
    take(table, batch({part(key, 0, 10 * key)}), static_cast<std::int64_t>(key));
  ByteWriter saved;
  table.save(saved);
  OffsetTable loaded;
  REQUIRE(loaded.load(saved.bytes()));
  CHECK(loaded.positions("node-1") == table.positions("node-1"));
  const wire::Batch later = batch({part(5, 50, 60)});
  table.commit(later, at_ms(9));
  loaded.commit(later, at_ms(9));
  CHECK(loaded.positions("node-1") == table.positions("node-1"));
  CHECK(take(loaded, batch({part(1, 10, 20)})) == What::apply);
  for (std::size_t size = 0; size < saved.size(); ++size)
    CHECK_FALSE(OffsetTable().load(saved.bytes().first(size)));
}
