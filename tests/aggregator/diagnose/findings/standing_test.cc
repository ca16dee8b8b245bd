// Known faults of hardware that a job bears with.
#include "aggregator/diagnose/findings/standing.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/diagnose/notable_nodes.h"
#include "aggregator/faults/fault.h"
#include "aggregator/faults/library.h"
#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::diagnose {
namespace {

using job::test::MadeJob;

const job::test::Say kRow{"a memory row was marked for remapping", Level::info};

/// Ranks of eight nodes print kRow so often.
MadeJob telling(const std::vector<int>& times) {
  MadeJob made(8);
  for (std::int64_t k = 1; k <= 20; ++k)
    for (int rank = 0; rank < 8; ++rank) {
      made.iterate(rank, k, k * 1000);
      if (k <= times[static_cast<std::size_t>(rank)]) made.say(rank, kRow, k * 1000 + 300);
    }
  return made;
}

/// It is a known fault of hardware that `change` changes.
std::vector<Notable> told(
    const std::vector<int>& times,
    const std::function<void(faults::Fault&, Findings&, detect::EventHint&)>& change =
        [](faults::Fault&, Findings&, detect::EventHint&) {},
    bool failed = true) {
  MadeJob made = telling(times);
  const job::JobView view = made.view();
  const job::JobClock clock = job::make_clock(view);
  faults::Fault fault;
  fault.id = "memory_row";
  fault.title = "A memory row is bad";
  fault.category = faults::Category::hardware;
  Hints hints;
  hints.events.resize(view.events.size());
  hints.faults.resize(view.events.size());
  Findings findings{view, clock, hints};
  if (const auto row = job::test::event_of(view, "memory row"); row < view.events.size()) {
    hints.events[row].known_fault = true;
    hints.faults[row] = {&fault};
    change(fault, findings, hints.events[row]);
  }
  std::vector<Notable> notable;
  add_standing_faults(view, find_standing(findings, failed).faults, notable);
  return notable;
}

const std::vector<int> kOnSixth{0, 0, 0, 0, 0, 0, 9, 0};

TEST_CASE("standing faults: what recurs on few nodes while the job goes on") {
  const auto notable = told(kOnSixth);
  REQUIRE(notable.size() == 1);
  CHECK(notable[0].kind == "fault");
  CHECK(notable[0].node == "node-6");
  CHECK(notable[0].count == 9);
  CHECK(notable[0].text == "node-6 tells 9 times of a known fault: A memory row is bad.");
  CHECK(told({0, 2, 0, 0, 0, 3, 0, 0}).size() == 2);
}

TEST_CASE("standing faults: once, or on many nodes, it is none") {
  CHECK(told({0, 0, 0, 1, 0, 0, 0, 0}).empty());
  CHECK(told({4, 4, 4, 0, 0, 0, 0, 0}).empty());
}

TEST_CASE("standing faults: what is known of it may say that it is none") {
  using faults::Fault;
  CHECK(told(kOnSixth, [](Fault& fault, Findings&, detect::EventHint&) {
          fault.category = faults::Category::user;
        }).empty());
  for (bool detect::EventHint::* flag :
       {&detect::EventHint::in_pool, &detect::EventHint::harmless, &detect::EventHint::general,
        &detect::EventHint::consequence})
    CHECK(told(kOnSixth, [&](Fault&, Findings&, detect::EventHint& hint) {
            hint.*flag = true;
          }).empty());
  const auto of_failure = [](Fault&, Findings& findings, detect::EventHint&) {
    findings.failures.events.emplace_back().event =
        job::test::event_of(findings.view, "memory row");
  };
  CHECK(told(kOnSixth, of_failure, true).empty());
  CHECK(told(kOnSixth, of_failure, false).size() == 1);
}

Report report_of(const std::vector<int>& times, std::int64_t asked_ms) {
  faults::Fault fault;
  fault.id = "memory_row";
  fault.title = "A memory row is bad";
  fault.category = faults::Category::hardware;
  fault.severity = Level::error;
  fault.patterns = {"memory row was marked"};
  const faults::Library library = faults::Library().with({fault});
  MadeJob made = telling(times);
  Options options;
  options.library = &library;
  options.as_of = job::test::after(asked_ms);
  return diagnose(made.state(), {}, options).report;
}

TEST_CASE("standing faults: a job that goes on reports them, with the node, and is well") {
  const Report report = report_of(kOnSixth, 20'500);
  CHECK(report.verdict.state == State::healthy);
  REQUIRE(report.events.size() == 1);
  CHECK(report.events[0].role == Role::root);
  CHECK(report.events[0].nodes == std::vector<std::string>{"node-6"});
  CHECK(report.events[0].count == 9);
  REQUIRE(report.nodes.size() == 1);
  CHECK(report.nodes[0].node == "node-6");
  CHECK(report.nodes[0].first_seen == job::test::after(1300));
  REQUIRE(report.faults.size() == 1);
  CHECK(report.faults[0].id == "memory_row");
  CHECK(report.certainty.size() == 3);
}

TEST_CASE("standing faults: without one a job that goes on has no event and no suspect") {
  for (const std::vector<int>& times :
       {std::vector<int>(8, 0), {0, 0, 0, 1, 0, 0, 0, 0}, {4, 4, 4, 0, 0, 0, 0, 0}}) {
    const Report report = report_of(times, 20'500);
    CHECK(report.verdict.state == State::healthy);
    CHECK(report.events.empty());
    CHECK(report.faults.empty());
    CHECK(report.certainty.size() == 1);
  }
}

}  // namespace
}  // namespace l4::diagnose
