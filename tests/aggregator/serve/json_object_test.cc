// Bodies of requests: which are accepted, and which field an error names.
#include "aggregator/serve/json_object.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace l4::serve {
namespace {

std::string wrong_in(const std::string& text) {
  auto object = JsonObject::read(text);
  if (!object) return object.error().text();
  object->text("name", 8);
  object->text_or_none("note", 8);
  object->texts_or_none("list", 2, 4);
  object->flag_or("flag", false);
  const auto error = object->finish();
  return error ? error->text() : "";
}

TEST_CASE("json object: what is asked for") {
  auto object =
      JsonObject::read(R"( {"name": "a b", "note": null, "list": ["x", "é"], "flag": true} )");
  REQUIRE(object);
  CHECK(object->text("name", 8) == "a b");
  CHECK(object->text_or_none("note", 8).empty());
  CHECK(object->text_or_none("none", 8).empty());
  CHECK(object->texts_or_none("list", 2, 4) == std::vector<std::string>{"x", "é"});
  CHECK(object->flag_or("flag", false));
  CHECK(object->flag_or("other", true));
  CHECK_FALSE(object->finish());
}

TEST_CASE("json object: what is wrong is named") {
  struct Row {
    std::string text, said;
  };
  for (const Row& row : std::vector<Row>{
           {R"({"name": "a"})", ""},
           {R"({"name": "a", "list": []})", ""},
           {"{}", "name: is missing"},
           {R"({"name": null})", "name: is missing"},
           {R"({"name": ""})", "name: must not be empty"},
           {R"({"name": "  "})", "name: must not be empty"},
           {R"({"name": "123456789"})", "name: has 9 bytes, at most 8 are taken"},
           {R"({"name": "a\nb"})", "name: has a control character (U+000A) at byte 1"},
           {R"({"name": "a\u202eb"})", "name: has a control character (U+202E) at byte 1"},
           {R"({"name": "a\u0000"})", "name: has a control character (U+0000) at byte 1"},
           {R"({"name": 1})", "name: must be no number"},
           {R"({"name": 1.5})", "name: must be no number"},
           {R"({"name": -1})", "name: must be no number"},
           {R"({"name": true})", "name: must be text"},
           {R"({"name": ["a"]})", "name: must be text"},
           {R"({"name": {}})", "name: must be no object"},
           {R"({"name": "a", "list": "x"})", "list: must be a list of texts"},
           {R"({"name": "a", "list": [true]})", "list: must be a list of texts"},
           {R"({"name": "a", "list": [["x"]]})", "list: must be no list of lists"},
           {R"({"name": "a", "list": ["1", "2", "3"]})",
            "list: holds 3 texts, at most 2 are taken"},
           {R"({"name": "a", "list": ["12345"]})", "list: has 5 bytes, at most 4 are taken"},
           {R"({"name": "a", "flag": "true"})", "flag: must be true or false"},
           {R"({"name": "a", "more": "b"})", "more: is not known here"},
           {R"({"name": "a", "name": "b"})", "name: stands twice"},
           {"[]", "must be an object"},
           {"\"a\"", "must be an object"},
           {"null", "must be an object"},
       }) {
    CAPTURE(row.text);
    CHECK(wrong_in(row.text) == row.said);
  }
  for (const char* text : {"", "{", "{\"name\"}", "{\"name\": \"a\"} x", "{\"name\": \"\xff\"}",
                           "{\"name\": \"\\ud800\"}", "{'name': 'a'}"}) {
    CAPTURE(text);
    CHECK(wrong_in(text).find("is no JSON") != std::string::npos);
  }
  CHECK_FALSE(wrong_in(std::string(100'000, '[')).empty());
}

}  // namespace
}  // namespace l4::serve
