#include "tools/l4/ask/live_json.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace l4::ask {
namespace {

const std::string kJob =
    R"({"id": "llama-7b", "attempt": 2, "state": "hung", "suspect": true, "since":
    "2026-11-20T15:54:42.120Z", "stage": "checkpoint_save", "iteration": 120, "nodes": 2, "ranks":
    16, "sources": 18, "lines": 12345, "begin": "2026-11-20T15:00:00.000Z", "last_seen":
    "2026-11-20T15:55:00.000Z", "incident": null, "completeness": 0.98, "novelty": [1]})";

const std::string kAgent =
    R"({"agent": "node-001", "address": "10.0.0.1:5000", "software": "0.1.0", "connected": true,
    "lost": false, "fleet_key": true, "files": 9, "batches_in_flight": 1, "batches_held": 2,
    "bytes_held": 3000, "shedding": "order", "heard": "2026-11-20T15:55:00.000Z", "offset_ms": -3,
    "delay_ms": null})";

std::string without(std::string text, const std::string& part, const std::string& instead = "") {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), instead);
}

std::string jobs(const std::string& job) {
  return "{\"jobs\": [" + job + "], \"next\": null}";
}

TEST_CASE("live json: jobs are read, and what is new is passed over") {
  const auto list = read_jobs(jobs(kJob + "," + kJob));
  REQUIRE(list);
  REQUIRE(list->jobs.size() == 2);
  CHECK_FALSE(list->more);
  const JobRow& job = list->jobs[1];
  CHECK(job.id == "llama-7b");
  CHECK(job.attempt == 2);
  CHECK(job.state == "hung");
  CHECK(job.suspect);
  CHECK_FALSE(job.ended);
  CHECK(job.since == parse_time("2026-11-20T15:54:42.120Z"));
  CHECK(job.stage == "checkpoint_save");
  CHECK(job.iteration == 120);
  CHECK(job.nodes == 2);
  CHECK(job.ranks == 16);
  CHECK_FALSE(job.ranks_expected);
  const auto told = read_jobs(jobs(
      without(kJob, "\"sources\"", "\"ranks_mapped\": 15, \"ranks_expected\": 16, \"sources\"")));
  REQUIRE(told);
  CHECK(told->jobs[0].ranks_mapped == 15);
  CHECK(told->jobs[0].ranks_expected == 16);
  CHECK(job.lines == 12345);
  CHECK(job.incident.empty());
  CHECK(job.completeness == doctest::Approx(0.98));
  const auto fewer = read_jobs(
      jobs(without(without(kJob, "\"sources\": 18,"), "\"begin\": \"2026-11-20T15:00:00.000Z\",")));
  REQUIRE(fewer);
  CHECK(fewer->jobs[0].sources == 0);
  CHECK_FALSE(fewer->jobs[0].begin);
  CHECK(read_jobs(R"({"jobs": [], "next": "x"})")->more);
}

TEST_CASE("live json: agents are read") {
  const auto list = read_agents("{\"blind\": true, \"agents\": [" + kAgent + "]}");
  REQUIRE(list);
  CHECK(list->blind);
  REQUIRE(list->agents.size() == 1);
  const AgentRow& agent = list->agents[0];
  CHECK(agent.agent == "node-001");
  CHECK(agent.fleet_key);
  CHECK(agent.bytes_held == 3000);
  CHECK(agent.shedding == "order");
  CHECK(agent.offset_ms == -3);
  CHECK_FALSE(agent.delay_ms);
}

TEST_CASE("live json: what is wrong is named by its path") {
  struct Row {
    std::string text, where;
  };
  const std::array<Row, 8> rows{{
      {"", ""},
      {"<html>", ""},
      {"[]", "$"},
      {"{}", "$.jobs"},
      {R"({"jobs": {}})", "$.jobs"},
      {jobs("7"), "$.jobs[0]"},
      {jobs(kJob + "," + without(kJob, "\"nodes\": 2,")), "$.jobs[1].nodes"},
      {jobs(without(kJob, "2026-11-20T15:54:42.120Z", "soon")), "$.jobs[0].since"},
  }};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto list = read_jobs(row.text);
    REQUIRE_FALSE(list);
    CHECK(list.error().where == row.where);
  }
  for (const char* part : {"\"lines\": 12345", "\"suspect\": true", "\"state\": \"hung\"",
                           "\"iteration\": 120", "\"completeness\": 0.98"}) {
    const std::string key(part, std::string_view(part).find(':') + 1);
    CHECK_FALSE(read_jobs(jobs(without(kJob, part, key + " []"))));
  }
  CHECK_FALSE(read_agents(R"({"agents": []})"));
  CHECK_FALSE(read_agents(R"({"blind": false, "agents": [1]})"));
}

TEST_CASE("live json: pages are one list") {
  const std::string first = R"({"blind": true, "agents": [{"b": 1, "a": 2}], "next": "x"})";
  CHECK(*next_page(first) == "x");
  for (const char* end : {R"({"next": null})", "{}", "[]", R"({"next": 7})"})
    CHECK(next_page(end)->empty());
  CHECK_FALSE(next_page("{"));
  CHECK(*joined_pages({first}, "agents") == first);
  CHECK(*joined_pages({first, R"({"blind": false, "agents": [], "next": "y"})",
                       R"({"blind": false, "agents": [3, 4], "next": null})"},
                      "agents") == R"({"blind":true,"agents":[{"b":1,"a":2},3,4],"next":null})");
  CHECK_FALSE(joined_pages({first, R"({"agents": {}})"}, "agents"));
  CHECK_FALSE(joined_pages({first, "[]"}, "agents"));
  const auto incidents = read_incidents(R"({"incidents": [], "next": "1.a"})");
  REQUIRE(incidents);
  CHECK(incidents->more);
}

TEST_CASE("live json: the code and the sentence of an error") {
  const AnsweredError error = read_error(R"({"error": {"code": "x", "message": "no job"}})");
  CHECK(error.code == "x");
  CHECK(error.message == "no job");
  for (const char* text :
       {"", "{}", "[]", "7", R"({"error": "x"})", R"({"error": {"message": 7}})"})
    CHECK(read_error(text).message.empty());
}

TEST_CASE("live json: tidied text acts on no terminal and means the same") {
  const auto tidy =
      tidied_json("{\"b\": \"\xc2\x9b[2J \xe2\x80\xae \\u001b ä\", \"a\": [1.5, null]}");
  REQUIRE(tidy);
  CHECK(*tidy ==
        "{\n  \"b\": \"\\u009b[2J \\u202e \\u001b ä\",\n  \"a\": [\n    1.5,\n    null\n  ]\n}\n");
  CHECK_FALSE(tidied_json("{\"a\": \x1b}"));
  CHECK_FALSE(tidied_json(std::string(1'000'000, '[')));
  CHECK(tidied_json("\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '[') + "\""));
}

}  // namespace
}  // namespace l4::ask
