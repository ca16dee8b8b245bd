#include "tools/l4/commands/live_view.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "aggregator/serve/utf8.h"

namespace l4::commands {
namespace {

const TimeMs kNow = parse_time("2026-11-20T16:00:00Z").value();

ask::JobRow job(const char* id, const char* state) {
  ask::JobRow row;
  row.id = id;
  row.state = state;
  row.nodes = 2;
  row.ranks = 1024;
  row.lines = 18'233'102;
  row.last_seen = kNow - Millis{3000};
  return row;
}

ask::AgentRow agent(const char* name) {
  ask::AgentRow row;
  row.agent = name;
  row.address = "10.0.0.1:5000";
  row.software = "0.1.0";
  row.connected = true;
  row.files = 9;
  row.shedding = "nothing";
  row.heard = kNow - Millis{1000};
  return row;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("live view: jobs that need a look stand first, in columns") {
  ask::JobList list;
  list.jobs = {job("done", "finished"), job("fine", "healthy"), job("later", "hung"),
               job("dead", "crashed"), job("what", "unknown")};
  list.jobs[2].suspect = true;
  list.jobs[2].since = kNow - Millis{52'000};
  list.jobs[3].since = kNow - Millis{240'000};
  list.jobs[3].stage = "checkpoint_save";
  list.jobs[3].iteration = 90;
  list.jobs[3].attempt = 2;
  list.jobs[3].completeness = 0.99999999;
  list.jobs[2].completeness = 0.9999;
  list.jobs[0].ended = true;
  const auto lines = lines_of(to_text(list, kNow, {.width = 160}));
  REQUIRE(lines.size() == 8);
  const std::vector<std::string> first{"state",   "crashed", "hung?",
                                       "healthy", "unknown", "finished"};
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(lines[i].starts_with(first[i]));
  for (const char* part :
       {"dead", " 2 ", "4 min ago", "checkpoint save", "90", "1,024", "18,233,102", "3 s ago"})
    CHECK_MESSAGE(lines[1].find(part) != std::string::npos, std::string(part));
  CHECK(lines[1].find('%') == std::string::npos);
  CHECK(lines[2].find("52 s ago") != std::string::npos);
  CHECK(lines[2].find("99.9 %") != std::string::npos);
  CHECK(lines[5].ends_with("ended 3 s ago"));
  CHECK(lines[7] == "5 jobs · 1 crashed · 1 hung? · 1 healthy · 1 unknown · 1 finished");
  // Numbers end where their heads end.
  const auto end_of = [&](std::size_t line, const char* text) {
    return serve::cells(lines[line].substr(0, lines[line].find(text))) + serve::cells(text);
  };
  CHECK(end_of(0, "ranks") == end_of(1, "1,024"));
  CHECK(end_of(0, "lines") == end_of(3, "18,233,102"));
  CHECK(end_of(0, "last line") == end_of(1, " 3 s ago"));
}

TEST_CASE("live view: ranks that are not known are told, others are not") {
  ask::JobList list;
  list.jobs = {job("some", "healthy"), job("all", "healthy"), job("more", "healthy")};
  for (ask::JobRow& row : list.jobs) row.ranks_expected = 1024;
  list.jobs[0].ranks_mapped = 1021;
  list.jobs[1].ranks_mapped = 1024;
  list.jobs[2].ranks_mapped = 1025;
  const std::string text = to_text(list, kNow, {.width = 160});
  CHECK(text.find("1,021 of 1,024") != std::string::npos);
  CHECK(text.find(" of ", text.find("1,021 of 1,024") + 14) == std::string::npos);
}

TEST_CASE("live view: users stand beside their jobs, where any are known") {
  ask::JobList list;
  list.jobs = {job("one", "healthy"), job("two", "healthy"), job("five", "healthy")};
  CHECK(to_text(list, kNow, {.width = 160}).find("user") == std::string::npos);
  list.jobs[0].users = {"alice"};
  list.jobs[1].users = {"alice", "bob"};
  list.jobs[2].users = {"alice", "bob", "carol", "dave", "eve\x1b[31m"};
  const std::string text = to_text(list, kNow, {.width = 160});
  for (const char* part : {"  user", " alice ", " alice, bob ", " alice and 4 more "})
    CHECK_MESSAGE(text.find(part) != std::string::npos, std::string(part));
}

TEST_CASE("live view: on a narrow page the columns that tell least are left out") {
  ask::JobList list;
  list.jobs = {job("dead", "crashed")};
  list.jobs[0].since = kNow;
  list.jobs[0].stage = "checkpoint_save";
  list.jobs[0].iteration = 90;
  const auto lines = lines_of(to_text(list, kNow, {.width = 70}));
  CHECK(lines[0].find("lines") == std::string::npos);
  CHECK(lines[0].find("nodes") == std::string::npos);
  CHECK(lines[0].ends_with("last line"));
  CHECK(lines[1].ends_with("3 s ago"));
  CHECK(lines[1].find("checkpoint save") != std::string::npos);
}

TEST_CASE("live view: columns without anything are left out") {
  ask::JobList list;
  list.jobs = {job("fine", "healthy")};
  const auto lines = lines_of(to_text(list, kNow, {}));
  for (const char* head : {"attempt", "since", "stage", "iteration", "read"})
    CHECK(lines[0].find(head) == std::string::npos);
  list.more = true;
  CHECK(to_text(list, kNow, {}).find("and more jobs") != std::string::npos);
}

TEST_CASE("live view: nothing is wider than the page, and nothing acts on a terminal") {
  ask::JobList jobs;
  const std::string nasty = "\x1b[2J\n\xe2\x80\xae\xff" + std::string(300, 'j') + "/end";
  jobs.jobs = {job(nasty.c_str(), nasty.c_str()), job("fine", "healthy")};
  jobs.jobs[0].stage = nasty;
  ask::AgentList agents;
  agents.agents = {agent(nasty.c_str())};
  agents.agents[0].address = agents.agents[0].software = agents.agents[0].shedding = nasty;
  for (const std::size_t width : {60, 100, 200})
    for (const std::string& text :
         {to_text(jobs, kNow, {.width = width}), to_text(agents, kNow, {.width = width})}) {
      for (const std::string& line : lines_of(text)) {
        CHECK(serve::cells(line) <= width);
        for (std::string_view rest = line; !rest.empty();) {
          const auto point = serve::first_code_point(rest);
          CHECK_FALSE(serve::is_control(point.value));
          rest.remove_prefix(point.bytes);
        }
      }
    }
  jobs.jobs[0].state = "crashed";
  const std::string wide = to_text(jobs, kNow, {.width = 200});
  CHECK(wide.find("/end") != std::string::npos);  // the end of a long name is kept
}

TEST_CASE("live view: colours only where asked") {
  ask::JobList list;
  list.jobs = {job("dead", "crashed")};
  CHECK(to_text(list, kNow, {}).find('\x1b') == std::string::npos);
  CHECK(to_text(list, kNow, {.color = true}).find("\x1b[1;31mcrashed\x1b[0m") != std::string::npos);
}

TEST_CASE("live view: agents, the lost first") {
  ask::AgentList list;
  list.agents = {agent("node-3"), agent("node-2"), agent("node-1")};
  list.agents[0].lost = true;
  list.agents[0].connected = false;
  list.agents[1].connected = false;
  list.agents[1].batches_held = 1;
  list.agents[1].bytes_held = 3'200'000;
  list.agents[1].shedding = "examples";
  list.agents[2].offset_ms = -12;
  list.agents[2].delay_ms = 1;
  list.agents[2].fleet_key = true;
  const auto lines = lines_of(to_text(list, kNow, {.width = 160}));
  REQUIRE(lines.size() == 6);
  CHECK(lines[1].starts_with("lost       node-3"));
  CHECK(lines[2].starts_with("away       node-2"));
  CHECK(lines[3].starts_with("connected  node-1"));
  CHECK(lines[2].find("1 batch, 3.2 MB  examples") != std::string::npos);
  CHECK(lines[3].find("fleet") != std::string::npos);
  CHECK(lines[3].find("-12 ms   1 ms") != std::string::npos);
  CHECK(lines[5] == "3 agents · 1 lost · 1 away · 1 connected");
  list.blind = true;
  CHECK(to_text(list, kNow, {}).starts_with("The aggregator is blind: "));
}

TEST_CASE("live view: nothing there is said") {
  CHECK(to_text(ask::JobList{}, kNow, {}).starts_with("no job is watched"));
  CHECK(to_text(ask::AgentList{}, kNow, {}) == "no agent has connected yet\n");
}

}  // namespace
}  // namespace l4::commands
