#include "aggregator/http/target.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace l4::http {
namespace {

using Strings = std::vector<std::string>;

TEST_CASE("target: path and query are decoded") {
  const auto plain = read_target("/api/v1/jobs");
  REQUIRE(plain);
  CHECK(plain->path == "/api/v1/jobs");
  CHECK(plain->segments == Strings{"api", "v1", "jobs"});
  CHECK(plain->query.empty());

  const auto all = read_target("/jobs/team%2Fllama%20%C3%A4/x?at=1+2&&q=%26%3D&flag");
  REQUIRE(all);
  CHECK(all->segments == Strings{"jobs", "team/llama ä", "x"});
  CHECK(all->path == "/jobs/team/llama ä/x");
  REQUIRE(all->query.size() == 3);
  CHECK(all->query[0] == std::pair<std::string, std::string>("at", "1 2"));
  CHECK(all->query[1] == std::pair<std::string, std::string>("q", "&="));
  CHECK(all->query[2] == std::pair<std::string, std::string>("flag", ""));

  CHECK(read_target("/")->segments == Strings{""});
  CHECK(read_target("/a/")->segments == Strings{"a", ""});
  CHECK(read_target("/a...b/..c")->segments == Strings{"a...b", "..c"});
}

TEST_CASE("target: what leads elsewhere or is no text is refused") {
  std::string many = "/?";
  for (int i = 0; i < 65; ++i) many += "a=1&";
  const std::array<std::string, 18> wrong{
      "",          "*",    "a/b",     "http://a/b",   "/a/../b",  "/..",
      "/%2e%2E/a", "/a/.", "/%",      "/%zz",         "/a%00b",   "/a%0ab",
      "/a%1b[2J",  "/%ff", "/%c0%ae", "/a?%e2%80%ae", "/a?x=%ff", many,
  };
  for (const std::string& text : wrong) {
    CAPTURE(text);
    CHECK_FALSE(read_target(text));
  }
}

}  // namespace
}  // namespace l4::http
