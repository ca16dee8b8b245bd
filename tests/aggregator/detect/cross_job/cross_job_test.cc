#include "aggregator/detect/cross_job/cross_job.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace l4::detect::cross_job;

TEST_CASE("paper rule: in at least half of the pool's runs") {
  const std::vector<EventHere> events{
      {{5, 1, 1}, {}}, {{4, 1, 1}, {}}, {{0, 0, 0}, {}}, {{1, 1, 1}, {{1e6, 1}}}};
  FilterOptions options;
  options.rule = Rule::paper;
  const auto ten = filter_events(events, 10, options);
  CHECK(ten[0].dropped);
  CHECK_FALSE(ten[1].dropped);
  CHECK(ten[1].known);
  CHECK_FALSE(ten[2].dropped);
  CHECK_FALSE(ten[2].known);
  CHECK(filter_events(events, 1, options)[3].dropped);
  CHECK(filter_events(events, 9, options)[0].dropped);
}

TEST_CASE("l4 rule: known events are dropped unless a node is far above the pool") {
  const PoolEvent pool{1, 2.0, 10};  // in the pool at most 2 per exposure and 10 in a node-run
  const std::vector<EventHere> events{
      {pool, {{20, 10}, {12, 4}}},  // as expected
      {pool, {{20, 10}, {90, 4}}},  // 90 instead of at most 10
      {pool, {{45, 10}}},           // 45 instead of 20: improbable, but not far enough above
      {{0, 0, 0}, {{1, 10}}},       // unknown
      {{3, 0.1, 1}, {{4, 2}}},      // a rare event: 4 instead of 1 is not enough
      {pool, {}}};
  const auto verdicts = filter_events(events, 10);
  CHECK(verdicts[0].dropped);
  CHECK_FALSE(verdicts[1].dropped);
  CHECK(verdicts[1].known);
  CHECK(verdicts[1].excess == doctest::Approx(2 * (std::sqrt(90.375) - std::sqrt(10.375))));
  CHECK(verdicts[2].dropped);
  CHECK_FALSE(verdicts[3].dropped);
  CHECK(verdicts[3].excess == 0);
  CHECK(verdicts[4].dropped);
  CHECK(verdicts[5].dropped);
}

TEST_CASE("an empty pool drops nothing") {
  const std::vector<EventHere> events{{{0, 0, 0}, {{5, 1}}}, {{7, 1, 1}, {{1, 1}}}};
  for (Rule rule : {Rule::l4, Rule::paper}) {
    FilterOptions options;
    options.rule = rule;
    for (const EventVerdict& verdict : filter_events(events, 0, options)) {
      CHECK_FALSE(verdict.known);
      CHECK_FALSE(verdict.dropped);
    }
  }
  CHECK(filter_events({}, 3).empty());
}
