#include "tools/l4/commands/demo/recent_lines.h"

#include <doctest/doctest.h>

namespace l4::commands::demo {
namespace {

constexpr TimeMs kBegin{Millis{1'000'000}};

TEST_CASE("recent lines: the first line that a template may have come of") {
  RecentLines lines;
  lines.add(kBegin, "a", "iteration 1\nRuntimeError: [x] Connection closed by peer [10.0.0.1]\n");
  lines.add(kBegin + Millis{5}, "b", "RuntimeError: [y] Connection closed by peer [10.0.0.2]");
  lines.add(kBegin + Millis{9}, "a", "exit code -9\n\n");
  const std::vector<std::string> closed{"RuntimeError: <*> Connection closed by peer <*>"};
  const auto first = lines.first(closed, kBegin);
  REQUIRE(first);
  CHECK(first->at == kBegin);
  CHECK(first->node == "a");
  CHECK(first->text == "RuntimeError: [x] Connection closed by peer [10.0.0.1]");
  const auto later = lines.first(closed, kBegin + Millis{1});
  REQUIRE(later);
  CHECK(later->node == "b");
  CHECK_FALSE(lines.first(closed, kBegin + Millis{6}));
  CHECK(lines.first({"<*> is nowhere in it", "exit code <*>"}, kBegin)->at == kBegin + Millis{9});
  CHECK_FALSE(lines.first({}, kBegin));
  CHECK_FALSE(lines.first({"<*>", "code <*>"}, kBegin));  // too short to tell
}

TEST_CASE("recent lines: the oldest are forgotten, long ones are cut") {
  RecentLines lines;
  lines.add(kBegin, "a", "the very first line\n");
  for (std::size_t i = 0; i < RecentLines::kLines; ++i) lines.add(kBegin, "a", "another line\n");
  CHECK_FALSE(lines.first({"the very first line"}, kBegin));
  lines.add(kBegin, "a", std::string(RecentLines::kBytes, 'x') + "behind the bound\n");
  CHECK_FALSE(lines.first({"behind the bound"}, kBegin));
  CHECK(lines.first({"xxxxxxxxxxxx"}, kBegin)->text.size() == RecentLines::kBytes);
}

}  // namespace
}  // namespace l4::commands::demo
