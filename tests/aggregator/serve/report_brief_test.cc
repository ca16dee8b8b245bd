#include "aggregator/serve/report_brief.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "aggregator/serve/json_value.h"
#include "aggregator/serve/report_json.h"

using namespace l4;
using namespace l4::serve;
using diagnose::Report;

namespace {

diagnose::IndicatingEvent event_on(Role role, std::initializer_list<int> nodes) {
  diagnose::IndicatingEvent event;
  event.role = role;
  for (const int node : nodes) {
    event.nodes.push_back(fmt::format("n{}", node));
    for (int i = 0; i < 8; ++i) event.ranks.emplace_back(8 * node + i);
  }
  return event;
}

diagnose::SuspectRank rank_of(int node, int rank) {
  diagnose::SuspectRank made;
  made.rank = Rank{rank};
  made.node = fmt::format("n{}", node);
  return made;
}

/// Nodes n0 to n9 with two ranks each; ranks of suspected nodes do not come first.
Report report_of_ten() {
  Report report;
  report.job.nodes = 10;
  for (int node = 0; node < 10; ++node) {
    report.nodes.push_back({fmt::format("n{}", node), 1, 0.5, {}, {}, {"why"}, {}});
    for (int i = 0; i < 2; ++i) report.ranks.push_back(rank_of(9 - node, 2 * (9 - node) + i));
    report.warnings.push_back({"unreadable", fmt::format("f{}", node), "permission denied", 1});
  }
  report.events = {event_on(Role::root, {1}), event_on(Role::consequence, {2, 3, 4, 5}),
                   event_on(Role::consequence, {4, 5, 6})};
  report.iterations = {{Iteration{7}, 1, {}, {}, {"n1", "n2", "n3", "n4"}, {}}};
  report.read.sources.resize(9);
  return report;
}

/// The members of a brief: its report read back, and the JSON of `whole`.
struct Brief {
  Report report;
  std::string whole;
};

Brief brief_of(const std::string& brief) {
  const auto json = parse_json(brief);
  REQUIRE(json.has_value());
  REQUIRE(json->find("report") != nullptr);
  REQUIRE(json->find("whole") != nullptr);
  const auto report = report_from_json(dump_json(*json->find("report")));
  REQUIRE(report.has_value());
  return {*report, dump_json(*json->find("whole"))};
}

}  // namespace

TEST_CASE("the head of a report has the first rows of its lists, and says how long they are") {
  const Brief brief = brief_of(brief_json(report_of_ten(), 3));
  REQUIRE(brief.report.nodes.size() == 3);
  CHECK(brief.report.nodes.back().node == "n2");
  CHECK(brief.report.ranks.size() == 6);
  for (const auto& rank : brief.report.ranks)
    CHECK_MESSAGE((rank.node == "n0" || rank.node == "n1" || rank.node == "n2"), rank.node);
  REQUIRE(brief.report.events.size() == 3);
  CHECK(brief.report.events[1].nodes == std::vector<std::string>{"n2", "n3", "n4"});
  CHECK(brief.report.events[1].ranks.size() == 3);
  CHECK(brief.report.iterations.at(0).nodes.size() == 3);
  CHECK(brief.report.warnings.size() == 3);
  CHECK(brief.report.read.sources.size() == 3);
  CHECK(brief.report.job.nodes == 10);
  CHECK(brief.whole ==
        R"({"nodes":10,"ranks":20,"warnings":10,"consequence_nodes":5,"event_nodes":[1,4,3]})");
}

TEST_CASE("the head of a report that is small is the report") {
  const Report report = report_of_ten();
  CHECK(to_json(brief_of(brief_json(report, 40)).report) == to_json(report));
  CHECK(brief_of(brief_json({}, 3)).report.nodes.empty());
}

TEST_CASE("the head of a report of a large job is small") {
  Report report = report_of_ten();
  for (int node = 10; node < 2'000; ++node) {
    report.nodes.push_back({fmt::format("n{}", node), 0, 0, {}, {}, {"its process is gone"}, {}});
    for (int rank = 0; rank < 8; ++rank) report.ranks.push_back(rank_of(node, 8 * node + rank));
    report.events[1].nodes.push_back(fmt::format("n{}", node));
  }
  CHECK(to_json(report).size() > 2'000'000);
  CHECK(brief_json(report, 32).size() < 50'000);
}
