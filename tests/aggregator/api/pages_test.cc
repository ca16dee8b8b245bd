#include "aggregator/api/pages.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace l4::api {
namespace {

/// The names on the page behind `query`, and `next`.
std::pair<std::string, std::string> page(const std::vector<std::string>& rows, PageQuery query,
                                         std::size_t row_bytes = 1) {
  std::string put;
  std::size_t bytes = 0;
  const auto next = write_page(
      rows, query, [](const std::string& row) { return row; },
      [&](const std::string& row) {
        put += row;
        return bytes += row_bytes;
      });
  if (!next) return {put, "refused: " + next.error().body};
  return {put, *next};
}

using Page = std::pair<std::string, std::string>;

TEST_CASE("pages: one after the other they are the list") {
  const std::vector<std::string> rows{"c", "a", "e", "b", "d"};
  CHECK(page(rows, {}) == Page{"caebd", ""});
  CHECK(page(rows, {.count = 2, .after = ""}) == Page{"ca", "a"});
  CHECK(page(rows, {.count = 2, .after = "a"}) == Page{"eb", "b"});
  CHECK(page(rows, {.count = 2, .after = "b"}) == Page{"d", ""});
  CHECK(page(rows, {.count = 5, .after = ""}) == Page{"caebd", ""});
  CHECK(page(rows, {.after = "d"}) == Page{"", ""});
  CHECK(page({}, {.count = 1, .after = ""}) == Page{"", ""});
}

TEST_CASE("pages: a row that has gone is no place to go on from, but in the order of names") {
  CHECK(page({"c", "a"}, {.after = "b"}).second.find("'b'") != std::string::npos);
  CHECK(page({"a", "c", "d"}, {.count = 1, .after = "b", .sorted = true}) == Page{"c", "c"});
  CHECK(page({"a", "c", "d"}, {.after = "x", .sorted = true}) == Page{"", ""});
}

TEST_CASE("pages: none is larger than what clients take, and each has a row") {
  const std::vector<std::string> rows{"a", "b", "c"};
  CHECK(page(rows, {}, kPageBytes / 2 + 1) == Page{"ab", "b"});
  CHECK(page(rows, {.after = "b"}, 3 * kPageBytes) == Page{"c", ""});
  CHECK(page(rows, {}, 3 * kPageBytes) == Page{"a", "a"});
}

}  // namespace
}  // namespace l4::api
