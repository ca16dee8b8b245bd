// The sentence at the head of a report.
#include "aggregator/diagnose/summary.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

namespace l4::diagnose {
namespace {

Report report_of(State state, Scope scope) {
  Report report;
  report.job.nodes = 4;
  report.verdict.state = state;
  report.verdict.scope = scope;
  return report;
}

Report failed(State state, Scope scope) {
  Report report = report_of(state, scope);
  report.verdict.iteration = Iteration{47};
  report.nodes = {{"node-3", 1, .9, {Rank{6}}, {}, {"fell silent first"}, {}},
                  {"node-5", .5, .2, {}, {}, {}, {}}};
  return report;
}

void add_root(Report& report, const std::string& text) {
  IndicatingEvent event;
  event.id = TemplateId{7};
  event.text = text;
  event.role = Role::root;
  report.events.push_back(event);
}

TEST_CASE("states without a failure") {
  CHECK(summarise(report_of(State::finished, Scope::none)) == "The job ended well.");
  CHECK(summarise(report_of(State::healthy, Scope::none)) ==
        "The job was running well when the logs end.");
  Report nothing = report_of(State::healthy, Scope::none);
  nothing.job.nodes = 0;
  CHECK(summarise(nothing) == "Nothing was read.");
  CHECK(summarise(report_of(State::unknown, Scope::unknown)).find("do not tell") !=
        std::string::npos);
}

TEST_CASE("a failure says what, when, where and why") {
  Report report = failed(State::crashed, Scope::rank);
  CHECK(summarise(report) ==
        "The job crashed in iteration 47 on rank 6 (node-3), which fell silent first.");
  add_root(report, "RuntimeError: CUDA error: unknown error");
  CHECK(summarise(report) ==
        "The job crashed in iteration 47 on rank 6 (node-3): RuntimeError: CUDA error: unknown "
        "error.");
  report.faults = {{"other", "Something else", "user", 1, "", "", {TemplateId{8}}},
                   {"xid", "The GPU is lost", "hardware", 1, "", "", {TemplateId{7}}}};
  CHECK(summarise(report) ==
        "The job crashed in iteration 47 on rank 6 (node-3): The GPU is lost.");
}

TEST_CASE("each scope has its words") {
  struct Row {
    Scope scope;
    const char* words;
  };
  for (const Row& row : {Row{Scope::node, " on node-3"}, Row{Scope::several, " on 2 nodes"},
                         Row{Scope::all, " on all nodes alike"}}) {
    CAPTURE(row.words);
    for (const State state : {State::hung, State::crashed, State::slow, State::launch_failed})
      CHECK(summarise(failed(state, row.scope)).find(row.words) != std::string::npos);
  }
  CHECK(summarise(failed(State::hung, Scope::unknown)) == "The job hung in iteration 47.");
}

TEST_CASE("without an iteration the stage says when") {
  Report report = failed(State::hung, Scope::node);
  report.verdict.iteration.reset();
  CHECK(summarise(report).starts_with("The job hung on node-3"));
  report.verdict.stage = Stage::checkpoint_load;
  CHECK(summarise(report).starts_with("The job hung during checkpoint_load on node-3"));
}

TEST_CASE("any half of a report gives one sentence") {
  const std::vector<std::function<void(Report&)>> missing{
      [](Report& r) { r.nodes.front().ranks.clear(); },
      [](Report& r) { r.nodes.front().why.clear(); },
      [](Report& r) { r.verdict.iteration.reset(); },
      [](Report& r) { add_root(r, ""); },
      [](Report& r) { add_root(r, std::string(100'000, 'x')); },
  };
  for (int state = 0; state <= static_cast<int>(State::launch_failed); ++state)
    for (int scope = 0; scope <= static_cast<int>(Scope::unknown); ++scope)
      for (const auto& take : missing) {
        Report report = failed(static_cast<State>(state), static_cast<Scope>(scope));
        take(report);
        const std::string text = summarise(report);
        CHECK(text.ends_with("."));
        CHECK(text.size() < 400);
      }
}

TEST_CASE("a failure that nobody is blamed for still reads") {
  for (const Scope scope : {Scope::none, Scope::several, Scope::all, Scope::unknown})
    CHECK(summarise(report_of(State::crashed, scope)) == "The job crashed.");
}

}  // namespace
}  // namespace l4::diagnose
