// Strong ids compare, order and hash like their values, and print one way.
#include "common/base/ids.h"

#include <doctest/doctest.h>

#include <map>
#include <type_traits>
#include <unordered_set>

namespace l4 {
namespace {

static_assert(!std::is_convertible_v<int, Rank>, "a number becomes a rank only where it is said");
static_assert(!std::is_convertible_v<Rank, int>);
static_assert(!std::is_same_v<Rank, Iteration>);

TEST_CASE("a template id prints as 16 hexadecimal digits") {
  struct Row {
    std::uint64_t id;
    const char* text;
  };
  for (const Row& row :
       {Row{0, "0000000000000000"}, Row{0xabc, "0000000000000abc"},
        Row{0x0123456789abcdef, "0123456789abcdef"}, Row{~std::uint64_t{0}, "ffffffffffffffff"}})
    CHECK(to_string(TemplateId{row.id}) == row.text);
}

TEST_CASE("ids order and hash like their values") {
  CHECK(Rank{-1} < Rank{0});
  CHECK(Rank{2} < Rank{10});
  CHECK(Iteration{7} == Iteration{7});
  CHECK(Rank{}.value() == 0);
  CHECK(std::hash<SourceId>{}(SourceId{9}) == std::hash<std::uint32_t>{}(9));
  const std::unordered_set<TemplateId> ids{TemplateId{3}, TemplateId{4}, TemplateId{3}};
  CHECK(ids.size() == 2);
  const std::map<Iteration, int> ordered{{Iteration{10}, 0}, {Iteration{9}, 0}};
  CHECK(ordered.begin()->first == Iteration{9});
}

}  // namespace
}  // namespace l4
