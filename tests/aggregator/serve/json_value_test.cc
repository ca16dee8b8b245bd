// Documents in memory: what is parsed, what is refused, and that dumping is the inverse.
#include "aggregator/serve/json_value.h"

#include <doctest/doctest.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace l4::serve {
namespace {

TEST_CASE("json value: parsing and dumping are inverse") {
  for (const char* text : {"null", "true", "7", "-7", "0.98", "1e-07", "1.0",
                           "18446744073709551615", "-9223372036854775808", R"("a\"\\\n\u001b ä")",
                           "[]", "{}", "[[],{}]", R"({"b":[1,{"x":null}],"a":false})"}) {
    CAPTURE(text);
    const auto value = parse_json(text);
    REQUIRE(value);
    CHECK(dump_json(*value) == text);
  }
  CHECK(dump_json(*parse_json(R"({"a":[1,2],"b":{},"c":[]})"), 2) ==
        "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {},\n  \"c\": []\n}");
}

TEST_CASE("json value: built values") {
  const std::vector<std::string> texts{"x", "y\xff"};
  const JsonValue value = JsonValue::Members{
      {"none", nullptr}, {"is", true}, {"count", 3U}, {"below", -1}, {"texts", texts}};
  CHECK(dump_json(value) == R"({"none":null,"is":true,"count":3,"below":-1,"texts":["x","y)"
                            "\xef\xbf\xbd\"]}");
  CHECK(value.find("count")->integer<int>() == 3);
  CHECK_FALSE(value.find("below")->integer<unsigned>());
  CHECK_FALSE(JsonValue(300).integer<std::int8_t>());
  CHECK_FALSE(JsonValue(1.5).is_integer());
  CHECK(JsonValue(3U).number() == 3.0);
  CHECK(value.find("no such") == nullptr);
  CHECK(JsonValue(7).find("x") == nullptr);
  CHECK(dump_json(std::numeric_limits<double>::infinity()) == "null");
}

TEST_CASE("json value: of members that stand twice the last one counts") {
  CHECK(parse_json(R"({"a":1,"a":2})")->find("a")->integer<int>() == 2);
}

TEST_CASE("json value: what is no JSON is refused with its place") {
  for (const char* text : {"", "{", "{\"a\"}", "[1,]", "{} x", "\"\xff\"", "'a'", "1e999"}) {
    CAPTURE(text);
    const auto value = parse_json(text);
    REQUIRE_FALSE(value);
    CHECK(value.error().byte > 0);
    CHECK_FALSE(value.error().reason.empty());
  }
  const std::string deep(kJsonDepthMax, '[');
  CHECK(parse_json(deep + std::string(kJsonDepthMax, ']')));
  const auto deeper = parse_json("[" + deep);
  REQUIRE_FALSE(deeper);
  CHECK(deeper.error().byte == 0);
  CHECK(deeper.error().reason == "is nested deeper than 64 levels");
}

TEST_CASE("json value: elements of a long list come one by one") {
  const auto visited = [](const std::string& text, std::size_t most = 9) {
    std::istringstream in(text);
    std::string elements;
    const auto rest = parse_json(in, "rows", [&](std::size_t index, const JsonValue& element) {
      elements += std::to_string(index) + "=" + dump_json(element) + " ";
      return index + 1 < most;
    });
    return elements + (rest ? dump_json(*rest) : "no JSON");
  };
  CHECK(visited(R"({"a":[7],"rows":[{"rows":[1]},[2],3],"b":{"rows":[4]}})") ==
        R"(0={"rows":[1]} 1=[2] 2=3 {"a":[7],"rows":[],"b":{"rows":[4]}})");
  CHECK(visited(R"({"rows":[1,2,3]})", 2) == R"(0=1 1=2 {"rows":[]})");
  CHECK(visited(R"({"rows":[1,2,)") == "0=1 1=2 no JSON");
  CHECK(visited(R"([["rows"]])") == R"([["rows"]])");
}

}  // namespace
}  // namespace l4::serve
