#include "tools/l4/terminal/table.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "aggregator/serve/utf8.h"

namespace l4::terminal {
namespace {

std::string table(std::vector<Row> rows, std::size_t width) {
  serve::Page page({.width = width});
  append_table(
      page, {{"state"}, {"name", false, true}, {"lines", true, false, 2}, {"why", false, false, 1}},
      std::move(rows), width);
  return page.release();
}

TEST_CASE("table: the end of a long path is kept longer than its front") {
  CHECK(cut_middle("short", 10) == "short");
  CHECK(cut_middle("node-00/a/b/c/rank0.log", 13) == "node…ank0.log");
  CHECK(serve::cells(cut_middle("日本語日本語日本語日本語", 11)) <= 11);
}

TEST_CASE("table: names shrink first, then the least useful columns go, empty ones never show") {
  const std::string name(60, 'n');
  const std::vector<Row> rows{{{"lost"}, {name}, {"12,345"}, {""}}};
  CHECK(table(rows, 100) == "state  " + std::string("name") + std::string(59, ' ') + "lines\n" +
                                "lost   " + name + "  12,345\n");
  std::istringstream lines(table({{{"lost"}, {name}, {"12,345"}, {std::string(44, 'w')}}}, 66));
  for (std::string line; std::getline(lines, line);) {
    CHECK(serve::cells(line) <= 66);
    CHECK(line.find("12,345") == line.npos);
  }
  CHECK(table({{{"\x1b[2J"}, {"b"}, {"1"}, {""}}}, 80).find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace l4::terminal
