#include "tools/l4/commands/check/findings.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace l4::commands::check {
namespace {

using terminal::Mark;
using terminal::Remark;

constexpr TimeMs kNow{Millis{1'800'000'000'000}};

ask::AgentRow agent(const std::string& name) {
  ask::AgentRow row;
  row.agent = name;
  row.connected = true;
  row.files = 3;
  row.shedding = "nothing";
  row.heard = kNow - Millis{1'000};
  row.offset_ms = 2;
  return row;
}

Site site() {
  Site made;
  made.now = kNow;
  made.agents.agents = {agent("a"), agent("b")};
  ask::StatusRow status;
  status.software = "l4-aggregator 1";
  status.started = kNow - Millis{7'200'000};
  status.now = kNow;
  status.status = "ok";
  status.folder = "/state";
  status.disk_bytes = 100'000'000'000;
  status.disk_free_bytes = 50'000'000'000;
  status.journal_bytes_max = 1'000;
  status.lost_after_ms = 11'000;
  status.absent.emplace();
  made.status = status;
  return made;
}

/// The texts of all findings that are to be looked at.
std::string looks(const Site& of) {
  std::string all;
  for (const Remark& remark : findings(of))
    if (remark.mark == Mark::look) {
      all += remark.text + "\n";
      CHECK_MESSAGE(!remark.next.empty(), remark.text);
    }
  return all;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

TEST_CASE("check: a site that is well has nothing to look at") {
  CHECK(looks(site()).empty());
  CHECK(is_well(site(), agent("a")));
  Site older = site();
  older.status.reset();
  CHECK(looks(older).empty());
}

TEST_CASE("check: agents that are lost, silent, read nothing, lag or tell another time") {
  Site made = site();
  made.jobs.jobs.emplace_back();
  auto& agents = made.agents.agents;
  agents[0].connected = false;
  agents[0].lost = true;
  agents[0].heard = kNow - Millis{240'000};
  agents[1].heard = kNow - Millis{12'000};
  agents.push_back(agent("c"));
  agents.back().files = 0;
  agents.push_back(agent("d"));
  agents.back().batches_held = 21;
  agents.push_back(agent("e"));
  agents.back().offset_ms = -7'000;
  const std::string text = looks(made);
  CHECK(says(text, "a is lost, last heard 4 min ago"));
  CHECK(says(text, "b was last heard 12 s ago, and is not called lost yet"));
  CHECK(says(text, "c reads no file"));
  CHECK(says(text, "d is behind by 21 batches"));
  CHECK(says(text, "the clock of e is 7 s behind"));
  CHECK(std::ranges::none_of(agents, [&](const auto& row) { return is_well(made, row); }));
}

TEST_CASE("check: many agents with one trouble are one finding") {
  Site made = site();
  for (int i = 0; i < 1'000; ++i) {
    made.agents.agents.push_back(agent("n" + std::to_string(i)));
    made.agents.agents.back().files = 0;
  }
  CHECK(looks(made).empty());  // no job has run yet
  made.jobs.jobs.emplace_back();
  const std::string text = looks(made);
  CHECK(says(text, "n0 reads no file, n1 reads no file"));
  CHECK(says(text, " and 994 more"));
  CHECK(std::ranges::count(text, '\n') == 1);
}

TEST_CASE("check: jobs with an open incident are named, and are no fault of the site") {
  Site made = site();
  made.jobs.jobs.emplace_back();
  made.jobs.jobs.emplace_back();
  made.jobs.jobs[0].id = "old";
  made.jobs.jobs[1].id = "new";
  for (auto& job : made.jobs.jobs) {
    job.state = "crashed";
    job.incident = "inc-" + job.id;
  }
  made.jobs.jobs[1].since = kNow;
  CHECK(looks(made).empty());
  const auto all = findings(made);
  const auto row = std::ranges::find(all, "l4 snapshot new", &terminal::Remark::next);
  REQUIRE(row != all.end());
  CHECK(row->text == "failed: old (crashed), new (crashed)");
}

TEST_CASE("check: names that never came, no agent at all, blindness") {
  Site made = site();
  made.status->absent = {"x", "y"};
  CHECK(says(looks(made),
             "2 nodes may connect and have not been heard since the aggregator "
             "started, 2 h ago: x, y"));
  made.agents.agents.clear();
  CHECK_FALSE(says(looks(made), "no agent has connected"));  // it is said already who did not
  made.status->absent.reset();
  made.agents.blind = true;
  CHECK(says(looks(made), "no agent has connected"));
  CHECK(says(looks(made), "too many fell silent at once"));
}

TEST_CASE("check: the aggregator's health, disk and journal") {
  Site made = site();
  made.status->reasons = {"the journal cannot be written"};
  made.status->disk_free_bytes = 900'000'000;
  made.status->journal_bytes = 900;
  const std::string text = looks(made);
  CHECK(says(text, "the journal cannot be written"));
  CHECK(says(text, "900 MB of 100 GB free at /state"));
  CHECK(says(text, "the journal has 900 B of the "));
}

TEST_CASE("check: sinks that failed, that lost alerts, that were tested") {
  Site made = site();
  ask::SinkRow sink;
  sink.sink = "chat";
  sink.kind = "slack";
  made.status->sinks = {sink};
  CHECK(looks(made).empty());  // nothing was sent yet
  sink.tried = kNow - Millis{120'000};
  sink.trouble = "answered 403";
  sink.waiting = 1;
  sink.dropped = 2;
  made.status->sinks = {sink};
  CHECK(says(looks(made), "chat (slack) failed 2 min ago: answered 403; 1 alert waits"));
  CHECK(says(looks(made), "2 alerts to chat could not be kept"));
  made.sent = true;
  made.tests = {{"chat", "slack", "", true, 34}};
  CHECK_FALSE(says(looks(made), "answered 403"));
  made.tests = {{"chat", "slack", "answered 500", false, 34}};
  CHECK(says(looks(made), "chat (slack) did not take the test alert: answered 500"));
  made.tests.clear();
  made.status->sinks.clear();
  CHECK(says(looks(made), "none is set"));  // asked for a test, and there is nothing to test
}

}  // namespace
}  // namespace l4::commands::check
