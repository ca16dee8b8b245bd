#include "aggregator/receive/position_table.h"

#include <doctest/doctest.h>

#include "aggregator/receive/notices.h"

namespace l4::receive {
namespace {

using Decision = PositionTable::Decision;

wire::Coverage part(std::uint64_t key, std::uint64_t from, std::uint64_t to) {
  return {"log", {from, to}, to - from, to, {key, 0, 0, 0, 0}};
}

TEST_CASE("positions: where files were let go, unknown ones go on where they stand") {
  PositionTable table;
  table.load({{{1, 0, 0, 0, 0}, "log", 100, 10}}, true);
  CHECK(table.check({part(1, 150, 200)}) == Decision::gap);
  CHECK(table.check({part(2, 50, 60)}) == Decision::apply);
  table.apply({part(2, 50, 60)});
  CHECK(table.check({part(2, 50, 60)}) == Decision::seen);
  CHECK(table.check({part(2, 70, 80)}) == Decision::gap);
}

TEST_CASE("positions: the rule of docs/WIRE.md") {
  PositionTable table;
  table.load({{{1, 0, 0, 0, 0}, "log", 100, 10}});
  struct Row {
    std::vector<wire::Coverage> coverage;
    Decision verdict;
  };
  const std::vector<Row> rows{
      {{part(1, 100, 200)}, Decision::apply},
      {{part(1, 0, 100)}, Decision::seen},
      {{part(1, 50, 100)}, Decision::seen},
      {{part(1, 150, 200)}, Decision::gap},
      {{part(1, 50, 150)}, Decision::gap},
      {{part(2, 0, 10)}, Decision::apply},
      {{part(2, 5, 10)}, Decision::gap},
      {{part(1, 100, 200), part(2, 0, 10)}, Decision::apply},
      {{part(1, 100, 150), part(1, 150, 200)}, Decision::apply},
      {{part(1, 0, 100), part(2, 0, 10)}, Decision::gap},
      {{part(1, 0, 50), part(1, 50, 100)}, Decision::seen},
      {{}, Decision::nothing},
      {{part(1, 100, 100)}, Decision::nothing},
      {{part(1, 101, 101)}, Decision::gap},
      {{part(1, 100, 100), part(2, 0, 10)}, Decision::apply},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("row " << i);
    CHECK(table.check(rows[i].coverage) == rows[i].verdict);
  }
}

TEST_CASE("positions: applied is ahead of committed, and only that is told") {
  PositionTable table;
  const std::vector first{part(1, 0, 100)}, second{part(1, 100, 150)};
  table.apply(first);
  table.apply(second);
  CHECK(table.page(0, 1'000).positions.empty());
  CHECK(table.wanted(first) == std::vector<wire::WantedFile>{{1, 150}});
  table.commit(first);
  CHECK(table.page(0, 1'000).positions.at(0).offset == 100);
  CHECK(table.page(0, 1'000).positions.at(0).lines == 100);
  CHECK(table.release({1}).empty());  // a batch is still in flight
  table.commit(second);
  CHECK(table.release({1, 2}) == std::vector<std::uint64_t>{1});
  CHECK(table.size() == 0);
}

TEST_CASE("positions: pages hold every file once, in order") {
  PositionTable table;
  for (std::uint64_t key = 1; key <= 1'000; ++key) {
    const std::vector coverage{part(key * 7919 % 1'009 + 1, 0, 10)};
    table.apply(coverage);
    table.commit(coverage);
  }
  std::uint64_t after = 0;
  std::size_t files = 0, pages = 0;
  for (bool more = true; more; ++pages) {
    const auto page = table.page(after, 4'096);
    for (const auto& position : page.positions) {
      CHECK(position.file.key > after);
      after = position.file.key;
      ++files;
    }
    more = page.more;
  }
  CHECK(files == table.size());
  CHECK(pages > 10);
}

TEST_CASE("positions: files of one agent are bounded") {
  PositionTable table;
  std::vector<wire::Coverage> many;
  for (std::uint64_t key = 1; key <= 200'001; ++key) many.push_back(part(key, 0, 1));
  CHECK(table.check(many) == Decision::too_many);
  many.pop_back();
  CHECK(table.check(many) == Decision::apply);
  std::vector<wire::Coverage> paths;
  for (std::uint64_t key = 1; key <= 10'000; ++key) {
    paths.push_back(part(key, 0, 1));
    paths.back().path = std::string(4'096, 'x');
  }
  CHECK(table.check(paths) == Decision::too_many);
}

TEST_CASE("notices: once per kind and address in ten minutes, with how often it came") {
  Notices notices;
  const wire::Refused scan{wire::Refusal::no_handshake, "10.0.0.9", "random bytes"};
  const auto first = notices.note(scan, Millis{1'000});
  REQUIRE(first.has_value());
  CHECK(*first ==
        "refused a connection that does not speak this protocol from 10.0.0.9: random bytes");
  for (int i = 0; i < 500; ++i) CHECK_FALSE(notices.note(scan, Millis{2'000 + i}).has_value());
  CHECK(notices.note({wire::Refusal::wrong_key, "10.0.0.9", ""}, Millis{3'000}).has_value());
  CHECK(notices.note({wire::Refusal::no_handshake, "10.0.0.8", ""}, Millis{3'000}).has_value());
  CHECK(notices.note(scan, Millis{700'000})->ends_with("(and 500 times since this was last said)"));
  CHECK(notices.counts().at(0) == 503);
}

TEST_CASE("notices: from many addresses there is one line more, not one for each") {
  Notices notices;
  std::size_t lines = 0;
  for (int i = 0; i < 20'000; ++i)
    lines +=
        notices
            .note({wire::Refusal::no_handshake, "10.0." + std::to_string(i), ""}, Millis{1'000 + i})
            .has_value();
  CHECK(lines == 1'025);
  CHECK(notices.counts().at(0) == 20'000);
}

}  // namespace
}  // namespace l4::receive
