// Typed fields of JSON documents: what is read, and how errors name their value.
#include "aggregator/serve/json_reader.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace l4::serve {
namespace {

struct Job {
  std::string state;
  bool ended = false;
  std::uint16_t nodes = 0;
  std::optional<double> share;
  std::optional<TimeMs> since;
  std::vector<Rank> ranks;
};

/// The error of reading `job` as the one element of `jobs`; empty if there is none.
std::string error_in(const std::string& job, Job& read, JsonTimes times = JsonTimes::any) {
  const auto json = parse_json("{\"jobs\": [" + job + "]}");
  REQUIRE(json);
  JsonReader reader("$", times);
  JsonMembers document(reader, *json);
  document.each("jobs", [&](JsonMembers& from) {
    from.read("state", read.state);
    from.read("ended", read.ended);
    from.read("nodes", read.nodes);
    from.read("share", read.share);
    from.read_if_any("since", read.since);
    from.read_if_any("ranks", read.ranks);
    from.end("is not known here");
  });
  return reader.error() ? reader.error()->text() : "";
}

std::string job(const std::string& state, const std::string& ended, const std::string& nodes,
                const std::string& share, const std::string& more = "") {
  return "{\"state\": " + state + ", \"ended\": " + ended + ", \"nodes\": " + nodes +
         ", \"share\": " + share + more + "}";
}

TEST_CASE("json reader: fields are read by their types") {
  Job read;
  CHECK(error_in(job("\"hung\"", "true", "2", "0.5",
                     R"(, "since": "2026-11-20T15:54:42.120Z", "ranks": [0, 5])"),
                 read) == "");
  CHECK(read.state == "hung");
  CHECK(read.ended);
  CHECK(read.nodes == 2);
  CHECK(read.share == 0.5);
  CHECK(read.since == parse_time("2026-11-20T15:54:42.120Z"));
  CHECK(read.ranks == std::vector<Rank>{Rank{0}, Rank{5}});
  CHECK(error_in(job("\"\"", "false", "0", "null"), read) == "");
  CHECK_FALSE(read.share);
}

TEST_CASE("json reader: an error names the path and the value") {
  struct Row {
    std::string text, said;
  };
  for (const Row& row : std::vector<Row>{
           {"7", "$.jobs[0]: must be an object"},
           {"{}", "$.jobs[0].state: is missing"},
           {job("7", "true", "1", "1"), "$.jobs[0].state: must be a string, not 7"},
           {job("[]", "true", "1", "1"), "$.jobs[0].state: must be a string, not a list"},
           {job("\"a\"", "\"yes\"", "1", "1"),
            "$.jobs[0].ended: must be true or false, not \"yes\""},
           {job("\"a\"", "true", "65536", "1"), "$.jobs[0].nodes: is out of range: 65536"},
           {job("\"a\"", "true", "-1", "1"), "$.jobs[0].nodes: is out of range: -1"},
           {job("\"a\"", "true", "1.5", "1"), "$.jobs[0].nodes: must be an integer, not 1.5"},
           {job("\"a\"", "true", "1", "{}"), "$.jobs[0].share: must be a number, not an object"},
           {job("\"a\"", "true", "1", "1", R"(, "since": "soon")"),
            "$.jobs[0].since: must be a time such as 2026-11-20T15:54:42.120Z, not \"soon\""},
           {job("\"a\"", "true", "1", "1", R"(, "ranks": 3)"),
            "$.jobs[0].ranks: must be a list, not 3"},
           {job("\"a\"", "true", "1", "1", R"(, "ranks": [1, -2])"),
            "$.jobs[0].ranks[1]: must not be negative: -2"},
           {job("\"a\"", "true", "1", "1", R"(, "z": 1, "y\u001b": 2)"),
            "$.jobs[0].y\u241b: is not known here"},
       }) {
    CAPTURE(row.text);
    Job read;
    CHECK(error_in(row.text, read) == row.said);
  }
}

TEST_CASE("json reader: times may have to be as they are written") {
  const std::string text = job("\"a\"", "true", "1", "1", R"(, "since": "2026-11-20T15:54:42Z")");
  Job read;
  CHECK(error_in(text, read) == "");
  CHECK(error_in(text, read, JsonTimes::rfc3339).starts_with("$.jobs[0].since: must be a time"));
}

TEST_CASE("json reader: a long value is cut in its error") {
  Job read;
  const std::string said =
      error_in(job("\"a\"", "\"" + std::string(1000, 'x') + "\"", "1", "1"), read);
  CHECK(said.size() < 120);
}

}  // namespace
}  // namespace l4::serve
