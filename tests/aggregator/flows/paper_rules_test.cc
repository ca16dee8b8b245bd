#include "aggregator/flows/paper_rules.h"

#include <doctest/doctest.h>

#include "tests/aggregator/flows/made_flows.h"

namespace l4::flows {

TEST_CASE("a change of level is found where it is") {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(0.01 * (i % 3));
  for (int i = 0; i < 60; ++i) values.push_back(5 + 0.01 * (i % 3));
  const auto changes = change_points(values, 40);
  REQUIRE_FALSE(changes.empty());
  CHECK(changes.front() >= 60);
  CHECK(changes.front() <= 61);
  CHECK(change_points({}, 40).empty());
}

TEST_CASE("one size is PP, several are DP, and a shared server joins jobs") {
  const Topology topology = made::topology(4, 2);
  PaperRules paper(topology);
  auto records = made::records({});
  for (std::size_t i = 0; i < records.size(); ++i)
    if (records[i].src == made::card(0, 0)) records[i].bytes += i % 2;
  for (const FlowRecord& record : records) paper.add(record);
  const FlowReport report = paper.finish();
  REQUIRE(report.jobs.size() == 1);
  std::size_t data = 0;
  for (const PairFlows& pair : report.jobs[0].pairs) data += pair.labels.contains(Label::data);
  CHECK(data == 1);
  CHECK(report.jobs[0].pairs.size() == 8);
}

}  // namespace l4::flows
