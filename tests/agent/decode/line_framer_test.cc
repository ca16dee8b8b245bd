#include "agent/decode/line_framer.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace l4::decode {
namespace {

struct Line {
  std::string head, last, bar;
  std::uint32_t updates;
  bool cut;
  std::uint64_t cut_bytes = 0;
  bool operator==(const Line&) const = default;
};

std::vector<Line> frame(std::string_view text, std::size_t chunk, std::size_t limit = 1000) {
  LineFramer framer{limit};
  std::vector<Line> lines;
  std::uint64_t offset = 0;
  std::uint64_t number = 1;
  const auto keep = [&](const RawLine& raw) {
    CHECK(raw.number == number);
    if (!raw.more) ++number;
    CHECK(raw.last_from >= offset);
    CHECK(raw.last_from <= raw.bytes.to);
    CHECK(raw.bytes.from == offset);
    offset = raw.bytes.to;
    lines.push_back({std::string{raw.head}, std::string{raw.last}, std::string{raw.bar},
                     raw.updates, raw.cut, raw.cut_bytes});
  };
  RawLine raw;
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    framer.give(text.substr(at, chunk));
    while (framer.next(raw)) keep(raw);
  }
  while (framer.finish(raw)) keep(raw);
  CHECK(offset == text.size());
  return lines;
}

TEST_CASE("line framer: line ends and bars, whatever the chunks") {
  const std::string text =
      "plain\r\n\n\r\n 0%|\r 5%|\r10%|\n\r10%|\r      \r{'loss': 1}\nbar\r     \r\nlast\r";
  const std::vector<Line> expected{
      {"plain", "plain", "", 0, false},
      {"", "", "", 0, false},
      {"", "", "", 0, false},
      {" 0%|", "10%|", " 5%|", 2, false},
      {"", "{'loss': 1}", "10%|", 2, false},
      {"bar", "bar", "", 0, false},
      {"last", "last", "", 0, false},
  };
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{3}, std::size_t{7}, text.size()}) {
    CAPTURE(chunk);
    const auto lines = frame(text, chunk);
    REQUIRE(lines.size() == expected.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      CAPTURE(i);
      CHECK(lines[i].last == expected[i].last);
      CHECK(lines[i].updates == expected[i].updates);
      CHECK(lines[i].bar == expected[i].bar);
    }
  }
}

TEST_CASE("line framer: what a CR overwrites is dropped if it is drawn again, else a piece") {
  const std::string bar = " 10%|# | 1/10 [00:01<00:09, 1it/s]";
  const std::string next = " 20%|# | 2/10 [00:02<00:08, 1it/s]";
  const std::vector<Line> expected{
      {"loading", "RuntimeError: no memory", "", 2, false},
      {"loading", next, "", 1, false},
      {"one line", "one line", "", 0, false},
      {"one line", "another text", "", 1, false},
      {bar, bar + "a warning of somebody", "", 0, false},
      {bar, "{'loss': 1}", next, 2, false},
  };
  const std::string text = "loading\r" + bar + "\rRuntimeError: no memory\r" + next + "\n" +
                           "one line\ranother text\n" + bar + "a warning of somebody\r" + next +
                           "\r      \r{'loss': 1}\n";
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{5}, std::size_t{33}, text.size()}) {
    CAPTURE(chunk);
    const auto lines = frame(text, chunk);
    REQUIRE(lines.size() == 7);
    CHECK(lines[0].last == "loading");
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      CHECK(lines[i + 1].last == expected[i].last);
      CHECK(lines[i + 1].bar == expected[i].bar);
    }
  }
}

TEST_CASE("line framer: long lines are cut, not inside a UTF-8 sequence") {
  const std::string text = std::string(99, 'a') + "\u00e4" + std::string(5000, 'b') + "\nnext\n";
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{64}, text.size()}) {
    const auto lines = frame(text, chunk, 100);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].last == std::string(99, 'a'));
    CHECK(lines[0].cut);
    CHECK(lines[0].cut_bytes == 5002);
    CHECK(lines[1].cut_bytes == 0);
    CHECK(lines[1].last == "next");
  }
}

TEST_CASE("line framer: a hole before a line is no part of it, however long") {
  const std::string text = "before\n" + std::string(5000, '\0') + "behind\nnext\n" +
                           std::string(2, '\0') + "a\rb\n" + std::string(200, '\0');
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{64}, text.size()}) {
    CAPTURE(chunk);
    const auto lines = frame(text, chunk, 100);
    REQUIRE(lines.size() == 5);
    CHECK(lines[1].last == "behind");
    CHECK_FALSE(lines[1].cut);
    CHECK(lines[1].cut_bytes == 0);
    CHECK(lines[2].last == "next");
    CHECK(lines[3].last == "b");
    CHECK(lines[4].last.empty());
  }
}

}  // namespace
}  // namespace l4::decode
