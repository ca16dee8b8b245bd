#include "common/http/url.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace l4::http {
namespace {

TEST_CASE("url: is taken apart") {
  struct Row {
    const char* text;
    const char* peer;
    const char* target;
  };
  constexpr std::array kRows{
      Row{"http://127.0.0.1:7440", "127.0.0.1:7440", "/"},
      Row{"http://node-1.example/a/b?x=1", "node-1.example:80", "/a/b?x=1"},
      Row{"http://[::1]:7440/a", "[::1]:7440", "/a"},
      Row{"http://[::1]", "[::1]:80", "/"},
      Row{"http://a_b:1?x", "a_b:1", "/?x"},
      Row{"http://a:65535/#part", "a:65535", "/"},
  };
  for (const Row& row : kRows) {
    const auto url = parse_url(row.text);
    INFO(std::string(row.text));
    REQUIRE(url);
    CHECK(url->peer() == row.peer);
    CHECK(url->target == row.target);
  }
}

TEST_CASE("url: what is none is refused by name") {
  const std::array<std::string, 17> wrong{
      "",           "127.0.0.1:7440",   "http://",     "https://",       "ftp://a",
      "http://:80", "http://a:",        "http://a:0",  "http://a:65536", "http://a:8x",
      "http://a b", "http://u:p@a/",    "http://[::1", "http://[a]:1",   "http://a\r\nX: y",
      "http://ä",   "http://[::1]7440",
  };
  for (const std::string& text : wrong) {
    CAPTURE(text);
    const auto url = parse_url(text);
    REQUIRE_FALSE(url);
    CHECK(url.error().where == text);
    CHECK_FALSE(url.error().reason.empty());
  }
  CHECK_FALSE(parse_url("http://a/" + std::string(9000, 'x')));
}

TEST_CASE("url: percent signs there and back") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string encoded = percent_encoded(all);
  CHECK(encoded.find_first_of("/?#& +") == std::string::npos);
  CHECK(percent_decoded(encoded) == all);
  CHECK(percent_encoded("job-1_a.b~c") == "job-1_a.b~c");
  CHECK(percent_decoded("a+b%2fc") == std::string("a+b/c"));
  CHECK(percent_decoded("a+b", true) == std::string("a b"));
  for (const char* broken : {"%", "%1", "a%g0", "%0g", "%%30"})
    CHECK_FALSE(percent_decoded(broken));
}

}  // namespace
}  // namespace l4::http
