#include "tools/l4/replay/arrivals.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/temp_folder.h"

namespace l4::replay {
namespace {

TEST_CASE("arrivals: rows, facts and comments") {
  const test::TempFolder folder;
  const auto path = folder.file("a.csv",
                                "# recorded by hand\n"
                                "1795190049.325,node-00/a,b.log,150\r\n"
                                "\n"
                                "# at 1795190050.5 rank 4 was killed\n"
                                "1795190051,node-00/a,b.log,150\n");
  const auto arrivals = load_arrivals(path);
  REQUIRE(arrivals);
  REQUIRE(arrivals->rows.size() == 2);
  CHECK(arrivals->rows[0].at == TimeMs{Millis{1'795'190'049'325}});
  CHECK(arrivals->rows[0].path == "node-00/a,b.log");
  CHECK(arrivals->rows[0].size == 150);
  CHECK(arrivals->rows[1].row == 5);
  REQUIRE(arrivals->facts.size() == 1);
  CHECK(arrivals->facts[0].at == TimeMs{Millis{1'795'190'050'500}});
  CHECK(arrivals->facts[0].text == "rank 4 was killed");
}

TEST_CASE("arrivals: a wrong row is named with its line and its value") {
  const struct {
    const char* rows;
    const char* line;
    const char* said;
  } kRows[] = {
      {"1,a.log\n", ":1", "`1,a.log` has too few columns"},
      {"1,a.log,5\nx,a.log,6\n", ":2", "`x` is no number of seconds"},
      {"1,a.log,5\n-2,a.log,6\n", ":2", "`-2` is no number of seconds"},
      {"1795190049325,a.log,5\n", ":1", "is no number of seconds"},
      {"nan,a.log,5\n", ":1", "`nan` is no number of seconds"},
      {"1,a.log,5\n2,a.log,5k\n", ":2", "`5k` is no size"},
      {"1,a.log,-5\n", ":1", "`-5` is no size"},
      {"1,,5\n", ":1", "the path is missing"},
      {"2,a.log,5\n1,a.log,6\n", ":2", "earlier than that of the row before"},
      {"1,a.log,5\n2,b.log,9\n3,a.log,4\n", ":3", "a.log shrinks from 5 bytes (line 1) to 4"},
      {"# at soon it breaks\n1,a.log,5\n", ":1", "`soon` is no number of seconds"},
      {"# at 5\n1,a.log,5\n", ":1", "a fact needs a time and a text"},
      {"# nothing\n", "", "holds no row"},
      {"", "", "holds no row"},
  };
  const test::TempFolder folder;
  for (const auto& row : kRows) {
    CAPTURE(std::string{row.rows});
    const auto path = folder.file("a.csv", row.rows);
    const auto arrivals = load_arrivals(path);
    REQUIRE_FALSE(arrivals);
    CHECK(arrivals.error().where == path.string() + row.line);
    CHECK(arrivals.error().reason.find(row.said) != std::string::npos);
  }
  CHECK_FALSE(load_arrivals(folder.path() / "none.csv"));
}

}  // namespace
}  // namespace l4::replay
