#include "aggregator/pool/run_json.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

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
  run.slowed = 2.375;
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

TEST_CASE("run json: runs of a long document come one by one") {
  const pool::Run first = test::made_run("job-1", "alpha", TimeMs{Millis{1'790'000'000'000}});
  const pool::Run second = test::made_run("job-2", "beta", TimeMs{Millis{1'790'000'001'000}});
  const std::string good = pool::to_json({&first, &second}, true);
  const auto read = [](const std::string& text, std::size_t most = 9) {
    std::istringstream in(text);
    std::vector<pool::Run> runs;
    const auto done = pool::each_run(in, [&](pool::Run run) -> Result<void> {
      if (runs.size() == most) return std::unexpected(Error{"taker", "has enough"});
      runs.push_back(std::move(run));
      return {};
    });
    return std::pair(runs, done ? "" : done.error().text());
  };
  using Runs = std::vector<pool::Run>;
  CHECK(read(good) == std::pair(Runs{first, second}, std::string()));
  CHECK(read(replaced(good, "l4.pool/1\"", "l4.pool/1\", \"next\": null")).second.empty());
  CHECK(read(good, 1) == std::pair(Runs{first}, std::string("taker: has enough")));
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {good.substr(0, good.size() / 2), "is no JSON"},
           {replaced(good, "job-2.0", "job-3.0"), "runs[1].run"},
           {replaced(good, "l4.pool/1", "l4.pool/9"), "schema"},
           {pool::to_json({&first, &first}, true), "twice"},
           {replaced(good, "\"runs\"", "\"walks\""), "runs"},
           {"[]", "the document"},
           {"{}", "schema"}}) {
    CAPTURE(said);
    CHECK(read(text).second.find(said) != std::string::npos);
  }
}

}  // namespace
}  // namespace l4
