#include "aggregator/pool/run_json.h"

#include <doctest/doctest.h>

#include "tests/aggregator/pool/made_run.h"

namespace l4 {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != text.npos, from);
  return text.replace(at, from.size(), to);
}

TEST_CASE("run json: what was written is read again, whole or in short") {
  pool::Run run = test::made_run("job-1", "alpha", TimeMs{Millis{1'790'000'000'123}});
  run.kind = "kind-01";
  run.events[0].text = "says \"<*>\" \\ é";
  run.events[0].node_rate_max = 0.000012345678;
  const auto whole = pool::read_run(pool::to_json(run));
  REQUIRE(whole);
  CHECK(*whole == run);
  const auto brief = pool::read_runs(pool::to_json({&run}, false), false);
  REQUIRE(brief);
  CHECK(brief->at(0).events.size() == run.events.size());
  CHECK(brief->at(0).id == "job-1.0");
}

TEST_CASE("run json: what is wrong is named with its place") {
  const pool::Run run = test::made_run("job-1", "alpha", TimeMs{Millis{1'790'000'000'000}});
  const std::string good = pool::to_json(run);
  struct Row {
    std::string text, where;
  };
  const std::vector<Row> rows{
      {good.substr(0, good.size() / 2), ""},
      {"[]", "the document"},
      {replaced(good, "l4.pool/1", "l4.pool/9"), "schema"},
      {replaced(good, "\"nodes\"", "\"knots\""), "runs[0].nodes"},
      {replaced(good, "\"run\": \"job-1.0\"", "\"run\": \"job-2.0\""), "runs[0].run"},
      {replaced(good, "\"origin\": \"logs\"", "\"origin\": \"hearsay\""), "runs[0].origin"},
      {replaced(good, "\"level\": \"info\"", "\"level\": \"loud\""), "runs[0].events[0].level"},
      {replaced(good, "\"node_share\": 1", "\"node_share\": 2"), "runs[0].events[0].node_share"},
      {replaced(good, "\"node_rate_max\": 0.125", "\"node_rate_max\": -1"),
       "runs[0].events[0].node_rate_max"},
      {replaced(good, "\"stage\": \"training\"", "\"stage\": \"lunch\""),
       "runs[0].pauses[0].stage"},
      {replaced(good, "\"startup\": false", "\"startup\": 0"), "runs[0].pauses[0].startup"},
      {replaced(good, "\"attempt\"", "\"extra\": 1, \"attempt\""), "runs[0].extra"},
  };
  for (const Row& row : rows) {
    const auto read = pool::read_run(row.text);
    REQUIRE_MESSAGE(!read, row.where);
    CHECK(read.error().where == row.where);
  }
  CHECK_FALSE(pool::read_runs(pool::to_json({&run, &run}, true), true));  // twice
}

}  // namespace
}  // namespace l4
