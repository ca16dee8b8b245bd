#include "common/drain/codes.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace l4::drain {
namespace {

Result<CodeList> read(const std::string& text) {
  std::istringstream in(text);
  return read_codes(in, "masks.toml");
}

TEST_CASE("config/masks.toml is the list that is compiled in") {
  std::ifstream in(std::string(L4_SOURCE_DIR) + "/config/masks.toml");
  REQUIRE(in);
  const auto list = read_codes(in, "config/masks.toml");
  REQUIRE(list);
  CHECK(list->rules() == default_codes().rules());
  CHECK(list->prefixed() == default_codes().prefixed());
}

TEST_CASE("a longer list keeps more") {
  const auto list = read("[[code]]\nkind = \"completion\"\nafter = [\"vendor err\"]\n");
  REQUIRE(list);
  const std::string line = "completion, vendor err 129";
  CHECK(list->is_code(line.data(), line.data() + line.find("129")));
  CHECK_FALSE(default_codes().is_code(line.data(), line.data() + line.find("129")));
}

TEST_CASE("a phrase is a whole word in any case, with little in between") {
  const auto is_code = [](const std::string& line) {
    return default_codes().is_code(line.data(), line.data() + line.find_first_of("0123456789"));
  };
  CHECK(is_code("Errno 5"));
  CHECK(is_code("(ERRNO: 5)"));
  CHECK(is_code("errno=5"));
  CHECK_FALSE(is_code("myerrno 5"));
  CHECK_FALSE(is_code("errno of 5"));
  CHECK_FALSE(is_code("5 errno"));
  CHECK_FALSE(is_code("signal (x) 5"));
}

TEST_CASE("errors name file, line and key") {
  struct {
    const char* text;
    const char* where;
  } const rows[] = {
      {"[[code]]\nkind = \"x\"\n", "masks.toml:1"},
      {"[[code]]\nafter = [\n  \"a\",\n  3]\n", "masks.toml:4"},
      {"\n[[codes]]\nafter = [\"a\"]\n", "masks.toml:2"},
      {"[[prefixed_code]]\nprefixes = [\"E\"]\ndigits = 0\n", "masks.toml:1"},
      {"[[code]\n", "masks.toml:1"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto list = read(row.text);
    REQUIRE_FALSE(list);
    CHECK(list.error().where == row.where);
    CHECK_FALSE(list.error().reason.empty());
  }
}

}  // namespace
}  // namespace l4::drain
