#include "common/drain/row.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace l4::drain {
namespace {

Row row(std::string_view text) {
  return row_of_text(text);
}

std::string joined(std::string_view a, std::string_view b) {
  return text(join(row(a), row(b)));
}

TEST_CASE("a token has one parent, and a wild one is its own") {
  CHECK(text({parent(row("word")[0])}) == "<*>");
  CHECK(text({parent(row("user=root")[0])}) == "user=<*>");
  CHECK(text({parent(row("user=<*>")[0])}) == "<*>");
  CHECK(text({parent(row("a::b")[0])}) == "<*>");
  CHECK(text({parent(row("<*>")[0])}) == "<*>");
}

TEST_CASE("the join of rows is the same in any order and grouping") {
  CHECK(joined("a b c", "a b c") == "a b c");
  CHECK(joined("a b c", "a x c") == "a <*> c");
  CHECK(joined("a u=x", "a u=y") == "a u=<*>");
  CHECK(joined("a u=<*>", "a v=y") == "a <*>");
  const Row a = row("p u=x q");
  const Row b = row("p u=y r");
  const Row c = row("p v=x q");
  CHECK(join(join(a, b), c) == join(a, join(b, c)));
  CHECK(join(a, b) == join(b, a));
}

TEST_CASE("wild tokens cover words, not codes") {
  CHECK(covers(row("a <*>"), row("a b")));
  CHECK(covers(row("a u=<*>"), row("a u=b")));
  CHECK_FALSE(covers(row("a u=<*>"), row("a v=b")));
  CHECK_FALSE(covers(row("a b"), row("a <*>")));
  CHECK_FALSE(covers(row("code <*>"), row("code 137")));
  CHECK_FALSE(covers(row("a <*>"), row("a b c")));
}

TEST_CASE("a frame raises soft tokens, unless too few words are left") {
  CHECK(text(frame_of(row("load rdd_<*> from a.b.c now"))) == "load <*> from <*> now");
  CHECK(text(frame_of(row("load user=root uid=<*> now"))) == "load user=<*> uid=<*> now");
  CHECK(text(frame_of(row("a.b c.d e"))) == "a.b c.d e");
}

TEST_CASE("text and row are inverse") {
  for (const char* shown : {"", "a", "a <*> b=<*> x<*>y<*>", "<*>"})
    CHECK(text(row(shown)) == shown);
}

TEST_CASE("a packed row is the row") {
  for (const std::size_t size : {1U, 126U, 127U, 128U, 129U, 300U, 20'000U}) {
    const Row whole = row("a " + std::string(size, 'x') + " <*> b=<*> c");
    const Row back = PackedRow(whole).row();
    CHECK(back == whole);
    CHECK(text(back) == text(whole));
  }
  CHECK(PackedRow(Row{}).row().empty());
}

TEST_CASE("kind: what names a structured record is no value, however many there are") {
  for (const std::string& front : {std::string("{\"key\":"), std::string("{\"event\":"),
                                   std::string(":::MLPv0.6.0 bert <*>")}) {
    CAPTURE(front);
    const Row named = row(front + " \"run_stop\", \"rank\": <*>");
    const auto position = static_cast<std::size_t>(std::ranges::count(front, ' ')) + 1;
    CHECK(is_record_name(named, position));
    CHECK(text(frame_of(named)).find("run_stop") != std::string::npos);
    for (std::size_t i = 0; i < named.size(); ++i)
      if (i != position) CHECK_FALSE(is_record_name(named, i));
  }
  CHECK_FALSE(is_record_name(row("{\"user\": \"root\", \"rank\": <*>"), 1));
}

}  // namespace
}  // namespace l4::drain
