#include "common/drain/codes.h"

#include <doctest/doctest.h>

#include <string>

namespace l4::drain {
namespace {

Result<CodeList> read(const std::string& text) {
  return parse_codes(text, "masks.toml");
}

TEST_CASE("config/masks.toml equals the built-in list") {
  const auto list = read_codes(std::string(L4_SOURCE_DIR) + "/config/masks.toml");
  REQUIRE(list);
  CHECK(list->rules() == default_codes().rules());
  CHECK(list->prefixed() == default_codes().prefixed());
}

TEST_CASE("a number behind any phrase may be a code, whatever digits the phrase has") {
  for (const CodeRule& rule : default_codes().rules())
    for (std::string phrase : rule.after) {
      CAPTURE(phrase);
      for (char& c : phrase) c = c >= '0' && c <= '9' ? '7' : c;
      CHECK(default_codes().may_precede(phrase + "="));
      CHECK(default_codes().may_precede("x " + phrase + " = "));
      for (char& c : phrase) c = c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c;
      CHECK(default_codes().may_precede("a line with " + phrase + ": "));
    }
  CHECK(default_codes().may_precede("HTTP/120.45678 "));
  CHECK_FALSE(default_codes().may_precede("HTTP/x "));
  CHECK_FALSE(default_codes().may_precede("step "));
  CHECK_FALSE(default_codes().may_precede(""));
}

TEST_CASE("a longer list keeps more") {
  const auto list = read("[[code]]\nkind = \"completion\"\nafter = [\"vendor err\"]\n");
  REQUIRE(list);
  const std::string line = "completion, vendor err 129";
  const std::string_view number = std::string_view(line).substr(line.find("129"));
  CHECK(list->is_code(line.data(), number));
  CHECK_FALSE(default_codes().is_code(line.data(), number));
}

TEST_CASE("a phrase is a whole word in any case, with little in between") {
  const auto is_code = [](const std::string& line) {
    const std::size_t at = line.find_first_of("0123456789");
    const std::size_t end = line.find_first_not_of("0123456789abcdefABCDEFx", at);
    return default_codes().is_code(line.data(), std::string_view(line).substr(at, end - at));
  };
  CHECK(is_code("Errno 5"));
  CHECK(is_code("(ERRNO: 5)"));
  CHECK(is_code("errno=5"));
  CHECK_FALSE(is_code("myerrno 5"));
  CHECK_FALSE(is_code("errno of 5"));
  CHECK_FALSE(is_code("5 errno"));
  CHECK_FALSE(is_code("signal (x) 5"));
  CHECK_FALSE(is_code("errno 1234567"));
}

TEST_CASE("a rule may ask for digits, how they begin, and hexadecimal") {
  const auto list = read(
      "[[code]]\nafter = [\"event\"]\nhex = true\ndigits = 4\nbegins = [\"80\", \"AF\"]\n"
      "[[code]]\nafter = [\"ret\"]\ndigits = 3\n");
  REQUIRE(list);
  const auto is_code = [&](const std::string& line, const char* number) {
    return list->is_code(line.data(), std::string_view(line).substr(line.find(number)));
  };
  CHECK(is_code("event=0x80e1", "0x"));
  CHECK(is_code("event [8012", "8012"));
  CHECK(is_code("event af00", "af00"));
  CHECK_FALSE(is_code("event 7012", "7012"));
  CHECK_FALSE(is_code("event 80123", "80123"));
  CHECK_FALSE(is_code("event 80g1", "80g1"));
  CHECK(is_code("ret 507", "507"));
  CHECK_FALSE(is_code("ret 50", "50"));
  CHECK_FALSE(is_code("ret 0x507", "0x507"));
  CHECK(list->may_be_hex(6));
  CHECK_FALSE(list->may_be_hex(3));
  CHECK(list->may_be_decimal(3));
  CHECK_FALSE(list->may_be_decimal(5));
}

TEST_CASE("errors name file, line and key") {
  struct {
    const char* text;
    const char* where;
  } const rows[] = {
      {"[[code]]\nkind = \"x\"\n", "masks.toml:1: after"},
      {"[[code]]\nafter = [\n  \"a\",\n  3]\n", "masks.toml:4: after"},
      {"[[code]]\nafter = [\"\"]\n", "masks.toml:2: after"},
      {"[[code]]\nafter = [\"a\"]\nkind = 3\n", "masks.toml:3: kind"},
      {"[[code]]\nafter = [\"a\"]\nkinds = \"x\"\n", "masks.toml:3: kinds"},
      {"\n[[codes]]\nafter = [\"a\"]\n", "masks.toml:2: codes"},
      {"[[prefixed_code]]\nprefixes = [\"E\"]\ndigits = 0\n", "masks.toml:3: digits"},
      {"[[code]]\nafter = [\"a\"]\nhex = true\n", "masks.toml:1: digits"},
      {"[[code]]\nafter = [\"a\"]\nbegins = 3\n", "masks.toml:3: begins"},
      {"# nothing\n", "masks.toml:1: code"},
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
