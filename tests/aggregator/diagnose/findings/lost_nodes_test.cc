// Nodes that are silent where the others complain, where words are not read.
#include "aggregator/diagnose/findings/lost_nodes.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::diagnose {
namespace {

using job::test::MadeJob;

/// What a rank says at the end of a job of eight nodes with two ranks each.
struct Said {
  int rank = 0;
  std::string text;
};

std::vector<std::string> lost_of(const std::vector<Said>& lines) {
  MadeJob made(8, 2);
  made.iterate_all(1, 30);
  for (const Said& line : lines) made.say(line.rank, {line.text}, 31'000);
  const job::JobView view = made.view();
  const job::JobClock clock = job::make_clock(view);
  Hints hints;
  hints.events.resize(view.events.size());
  hints.faults.resize(view.events.size());
  hints.accused.resize(view.events.size());
  Findings findings{view, clock, hints};
  findings.failures.worded = false;
  findings.failures.compared = true;
  for (std::uint32_t i = 0; i < view.events.size(); ++i) {
    if (view.events[i].text.find("end") == std::string::npos) continue;
    detect::FailureEvent& event = findings.failures.events.emplace_back();
    event.event = i;
    event.severity = detect::Severity::failure;
    for (std::uint32_t at = 0; at < view.events[i].at.size(); ++at) event.occurrences.push_back(at);
    event.first_stream = view.events[i].at.front().stream;
  }
  std::vector<std::string> names;
  for (const std::uint32_t node : find_lost_nodes(findings)) names.push_back(view.nodes[node].name);
  return names;
}

/// The first rank of each node but `silent` says it.
std::vector<Said> all_but(int silent) {
  std::vector<Said> lines;
  for (int node = 0; node < 8; ++node)
    if (node != silent) lines.push_back({2 * node, "the end of a step"});
  return lines;
}

std::vector<Said> with(std::vector<Said> lines, const std::vector<Said>& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

TEST_CASE("lost nodes: the one without the line that all others end with") {
  const std::vector<std::string> fifth{"node-5"};
  CHECK(lost_of(all_but(5)) == fifth);
  CHECK(lost_of(all_but(-1)).empty());
}

TEST_CASE("kind: a line of one other node, or of some, is no cause beside that") {
  const std::vector<std::string> fifth{"node-5"};
  CHECK(lost_of(with(all_but(5), {{3, "an odd end"}})) == fifth);
  CHECK(lost_of(with(all_but(5), {{3, "an odd end"}, {9, "another end"}})) == fifth);
  // Four of eight are neither few nor most: it may be about anything, on the silent node, too.
  CHECK(lost_of(with(all_but(5),
                     {{1, "odd end"}, {7, "odd end"}, {10, "odd end"}, {13, "odd end"}})) == fifth);
}

TEST_CASE("kind: a message of several lines that one node alone prints is a cause") {
  CHECK(lost_of(with(all_but(5), {{3, "an odd end"}, {3, "of which ends this"}})).empty());
  CHECK(lost_of(with(all_but(5), {{10, "an end of its own"}})).empty());
}

}  // namespace
}  // namespace l4::diagnose
