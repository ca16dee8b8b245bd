#include "agent/discover/layout_pattern.h"

#include <doctest/doctest.h>

namespace l4::discover {
namespace {

TEST_CASE("layout pattern: fields") {
  const auto layout =
      LayoutPattern::compile("{job}/{node}/try{attempt}/{*}.{rank}.{local_rank}.log");
  REQUIRE(layout);
  const auto facts = layout->match("j1/gpu-3/try2/any.12.4.log");
  REQUIRE(facts);
  CHECK(facts->job == "j1");
  CHECK(facts->node == "gpu-3");
  CHECK(facts->attempt == 2);
  CHECK(facts->rank == Rank{12});
  CHECK(facts->local_rank == 4);
  CHECK(facts->kind == wire::SourceKind::rank);
}

TEST_CASE("layout pattern: a field stays within one folder") {
  const auto layout = LayoutPattern::compile("{node}.log");
  REQUIRE(layout);
  CHECK_FALSE(layout->match("a/b.log"));
  CHECK(layout->match("b.log"));
}

TEST_CASE("layout pattern: errors name what is wrong") {
  CHECK_FALSE(LayoutPattern::compile(""));
  CHECK_FALSE(LayoutPattern::compile("{nod}/x.log"));
  CHECK_FALSE(LayoutPattern::compile("{node/x.log"));
}

}  // namespace
}  // namespace l4::discover
