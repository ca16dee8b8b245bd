#include "aggregator/serve/shell_pattern.h"

#include <doctest/doctest.h>

namespace l4::serve {
namespace {

TEST_CASE("shell pattern: the whole text must have it") {
  CHECK(matches_pattern("a*[12]?", "a/x1z"));
  CHECK(matches_pattern("", ""));
  CHECK_FALSE(matches_pattern("a", "ab"));
  CHECK_FALSE(matches_pattern("a?", "a"));
  CHECK_FALSE(matches_pattern("[!a]", "a"));
}

TEST_CASE("shell pattern: what it begins with") {
  CHECK(fixed_start("team-a") == "team-a");
  CHECK(fixed_start("team-*b") == "team-");
  CHECK(fixed_start("a[b]") == "a");
  CHECK(fixed_start("a\\*") == "a");
  CHECK(fixed_start("?").empty());
}

}  // namespace
}  // namespace l4::serve
