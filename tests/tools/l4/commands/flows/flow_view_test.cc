// What `l4 flows` prints of a report.
#include <doctest/doctest.h>

#include "aggregator/serve/json_value.h"
#include "tools/l4/commands/flows/flow_json.h"
#include "tools/l4/commands/flows/flow_text.h"

namespace l4::commands::flows {
namespace {

namespace flows = l4::flows;

flows::FlowReport report() {
  flows::FlowReport made;
  made.records = 12'345;
  made.first = 1'760'000'000 * flows::kSecond;
  made.last = made.first + 600 * flows::kSecond;
  flows::JobFlows job;
  job.name = "flows-1";
  job.servers = {"node-0", "node-1"};
  job.cards = {flows::Address::of_ipv4(0x0a000001), flows::Address::of_ipv4(0x0a000002)};
  job.pairs = {{job.cards[0], job.cards[1], {flows::Label::data, flows::Label::pipeline}}};
  job.strategy = flows::Strategy{8, 2, 4, 1};
  job.first = made.first;
  job.last = made.last;
  job.period = 5 * flows::kSecond;
  for (int i = 0; i < 3; ++i)
    job.steps.emplace_back(made.first + i * job.period, made.first + (i + 1) * job.period);
  job.groups = {{flows::Label::data, job.cards, 5, {job.steps[0].second, job.steps[1].second}}};
  job.clock_of[job.cards[0]] = 0;
  job.findings = {{flows::Cause::degraded_link,
                   made.first + 60 * flows::kSecond,
                   made.first + 55 * flows::kSecond,
                   {"10.0.0.1", "10.0.0.2"},
                   true,
                   2.5,
                   7}};
  made.jobs = {job};
  return made;
}

}  // namespace

TEST_CASE("findings come first, then each job and what was read") {
  FlowInput input;
  input.files = {"flows.csv"};
  input.bad = 3;
  input.told = {{"flows.csv:7", "2 of 9 columns"}};
  const std::string text = to_text(report(), input, {});
  const auto at = [&](std::string_view words) {
    const std::size_t found = text.find(words);
    CHECK_MESSAGE(found != std::string::npos, words);
    return found;
  };
  CHECK(text.starts_with("1 job · 1 finding\n"));
  CHECK(at("SLOW LINK · 10.0.0.1 or 10.0.0.2") < at("TP 8 x PP 2 x DP 4"));
  at("2.50 x");
  at("7 steps");
  at("3 steps of 5.000 s");
  at("1 x DP of 2 cards, 5 a step");
  at("1 DP · 1 PP");
  CHECK(at("12,345 records") < at("3 could not be read"));
  at("flows.csv:7: 2 of 9 columns");
  at("no topology was given");
}

TEST_CASE("a report without jobs says so, and names are harmless") {
  flows::FlowReport empty;
  CHECK(to_text(empty, {}, {}).starts_with("0 jobs · nothing found\n"));
  flows::FlowReport hostile = report();
  hostile.jobs[0].findings[0].place = {"node\x1b[2J"};
  CHECK(to_text(hostile, {}, {}).find('\x1b') == std::string::npos);
}

TEST_CASE("the JSON has the ends of steps by card, and null for what is unknown") {
  const auto json = serve::parse_json(to_json(report(), "l4"));
  REQUIRE(json);
  CHECK(*json->find("schema")->text() == "l4.flows/1");
  CHECK(json->find("read")->find("lost")->is_null());
  const serve::JsonValue& job = json->find("jobs")->list()->front();
  CHECK(job.find("steps")->find("10.0.0.1")->list()->size() == 2);
  CHECK(job.find("steps")->find("10.0.0.2") == nullptr);
  CHECK(*job.find("findings")->list()->front().find("kind")->text() == "degraded_link");
  flows::FlowReport unknown = report();
  unknown.jobs[0].strategy.reset();
  unknown.jobs[0].period = 0;
  const auto other = serve::parse_json(to_json(unknown, "l4"));
  REQUIRE(other);
  CHECK(other->find("jobs")->list()->front().find("strategy")->is_null());
  CHECK(other->find("jobs")->list()->front().find("period_ns")->is_null());
}

TEST_CASE("the trace has a slice for each step, in microseconds") {
  const auto json = serve::parse_json(to_trace(report()));
  REQUIRE(json);
  std::size_t slices = 0;
  for (const serve::JsonValue& event : *json->find("traceEvents")->list()) {
    if (*event.find("ph")->text() != "X") continue;
    ++slices;
    CHECK(event.find("dur")->number() == 5e6);
  }
  CHECK(slices == 4);  // three of the job, one of its group
}

}  // namespace l4::commands::flows
