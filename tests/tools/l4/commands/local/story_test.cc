#include "tools/l4/commands/local/story.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace l4::commands::local {
namespace {

std::string job_row(const char* state, bool ended, int ranks = 8) {
  return fmt::format(
      R"({{"id": "job-7", "attempt": 0, "state": "{}", "suspect": false, "ended": {}, "since": null,
"stage": null, "iteration": null, "nodes": 4, "ranks": {}, "sources": 8, "lines": 100,
"last_seen": null, "incident": null, "completeness": 1}})",
      state, ended, ranks);
}

Story story() {
  return Story({.color = false, .width = 80}, [] { return TimeMs{Millis{1'795'190'083'500}}; });
}

TEST_CASE("local story: a job begins and ends; what is no news is left out") {
  Story told = story();
  CHECK(told.text_of({"1", "job", job_row("healthy", false)}) == "15:54:43Z job-7 is watched\n");
  CHECK(told.text_of({"2", "job", job_row("healthy", false)}).empty());
  CHECK(told.text_of({"3", "job", job_row("crashed", false)}).empty());  // the incident tells it
  CHECK(told.text_of({"4", "job", job_row("finished", true, 1)}) ==
        "15:54:43Z job-7 has finished · 1 rank · 4 nodes\n");
  CHECK(told.text_of({"5", "following", "{}"}).empty());
  CHECK(told.text_of({"6", "job", "{not json"}).empty());
}

TEST_CASE("local story: an incident says what happened and how to ask on") {
  Story told = story();
  const auto change = [](const char* kind, const char* summary) {
    return fmt::format(R"({{"alert": "{}", "incident": "i", "job": "job-7", "attempt": 0,
"state": "crashed", "summary": "{}", "at": "2026-11-20T15:54:44.100Z", "nodes": ["n"]}})",
                       kind, summary);
  };
  CHECK(told.text_of({"1", "incident", change("opened", "The job crashed on rank 4.")}) ==
        "15:54:44Z job-7 crashed\n"
        "          The job crashed on rank 4.\n"
        "          l4 snapshot job-7\n");
  CHECK(told.text_of({"2", "incident", change("resolved", "It goes on.")}) ==
        "15:54:44Z job-7 is well again\n"
        "          It goes on.\n");
  const std::string hostile = told.text_of({"3", "incident", change("opened", "a\\u001b[2Jb")});
  CHECK(hostile.find('\x1b') == std::string::npos);
}

TEST_CASE("local story: for programs, each event of a job is a line") {
  CHECK(json_of({"1", "job", R"({"id": "job-7"})"}) ==
        "{\"type\":\"job\",\"data\":{\"id\":\"job-7\"}}\n");
  CHECK(json_of({"2", "following", "{}"}).empty());
  CHECK(json_of({"3", "job", "{not json"}).empty());
}

}  // namespace
}  // namespace l4::commands::local
