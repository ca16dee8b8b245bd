#include "aggregator/http/job_limit.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace l4::http {
namespace {

JobLimit limit_of(const std::string& text) {
  auto limit = JobLimit::parse(text);
  REQUIRE(limit);
  return *std::move(limit);
}

TEST_CASE("job limit: without one all jobs are included, and what is of no job") {
  const JobLimit all;
  CHECK_FALSE(all.is_limited());
  CHECK(all.includes("any"));
  CHECK(all.includes(""));
  CHECK(all.covers("*"));
  CHECK(all.text().empty());
}

TEST_CASE("job limit: includes the names that one of its patterns matches") {
  const JobLimit limit = limit_of("team-a-*,shared-?,x[12]");
  CHECK(limit.is_limited());
  CHECK(limit.text() == "team-a-*,shared-?,x[12]");
  for (const char* job : {"team-a-", "team-a-7b", "team-a-a/b c", "shared-1", "x2"}) {
    CAPTURE(job);
    CHECK(limit.includes(job));
  }
  for (const char* job : {"", "team-b-1", "team-a", "Team-a-1", "my-team-a-1", "shared-12", "x3"}) {
    CAPTURE(job);
    CHECK_FALSE(limit.includes(job));
  }
  CHECK_FALSE(limit_of("*").includes(""));
}

TEST_CASE("job limit: covers a pattern if it surely matches no other name") {
  const JobLimit limit = limit_of("team-a-*,shared-?,x[12]*");
  for (const char* pattern : {"team-a-*", "team-a-1", "team-a-[12]", "team-a-*-x?", "shared-?",
                              "shared-1", "x[12]*", "x1"}) {
    CAPTURE(pattern);
    CHECK(limit.covers(pattern));
  }
  for (const char* pattern : {"*", "team-*", "team-a?*", "shared-*", "shared-[12]", "x?", "x[12]?",
                              "[t]eam-a-1", "\\team-a-1", ""}) {
    CAPTURE(pattern);
    CHECK_FALSE(limit.covers(pattern));
  }
}

TEST_CASE("job limit: a pattern that cannot be meant is refused") {
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"", "is empty"},
           {"a,", "is empty"},
           {",a", "is empty"},
           {"a b", "holds a space"},
           {"a\nb", "holds a space"},
           {"[ab", "without its ]"},
           {"[]", "without its ]"},
           {"a\\", "ends with a backslash"},
           {std::string(201, 'a'), "is longer than 200 bytes"}}) {
    CAPTURE(text);
    const auto refused = JobLimit::parse(text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().reason.contains(why));
  }
  std::string many = "a";
  for (std::size_t i = 1; i < JobLimit::kPatternsMax; ++i) many += ",a";
  CHECK(JobLimit::parse(many));
  CHECK_FALSE(JobLimit::parse(many + ",a"));
}

}  // namespace
}  // namespace l4::http
