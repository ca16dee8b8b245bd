#include "tools/l4/commands/check/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <tuple>
#include <utility>

#include "aggregator/serve/json_text.h"
#include "aggregator/serve/phrases.h"
#include "common/http/url.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/commands/check/findings.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/table.h"

namespace l4::commands::check {
namespace {

using serve::Tone;
using terminal::Remark;

constexpr Millis kTimeout{10'000}, kTestTimeout{30'000};
constexpr auto kProgram = "l4 check";

constexpr auto kFooter =
    R"(Asks the aggregator how it is, which agents are connected, what they read, how far they are
behind and their clocks apart, and how its sinks of alerts fare. What is wrong is said with the
next step. --send sends a test alert, marked as such, through every sink, or one; it needs a
token with the role operate, where there are tokens.

Examples:
  l4 check
  l4 check --send
  l4 check --send --sink chat

Exit status:
  0   all is well
  2   wrong use, no such sink, or output that cannot be written
  3   the aggregator did not answer, or refused
  10  something is to be looked at

Environment: as for 'l4 jobs')";

/// The answers as they came, for JSON, and as they were read.
struct Answers {
  Site site;
  std::string status = "null", agents, tests = "null";
};

template <class T, class Read>
ask::Answer<void> read_into(const ask::Aggregator& asked, const std::string& body, Read read,
                            T& to) {
  auto got = read(body);
  if (!got) return ask::misread(asked, got.error());
  to = *std::move(got);
  return {};
}

ask::Answer<void> send_tests(const ask::Aggregator& asked, const std::string& sink, Answers& all) {
  serve::JsonWriter body;
  body.open('{');
  if (!sink.empty()) body.member("sink", sink);
  const auto response = ask::send(asked, ask::Method::post, "/api/v1/alerts/test",
                                  body.close('}').release(), kTestTimeout);
  if (!response) return std::unexpected(response.error());
  if (response->status != 200) {
    ask::Failure failure = ask::failure_of(asked, *response);
    if (failure.is_not_found()) failure.exit = terminal::kWrongUse;
    return std::unexpected(std::move(failure));
  }
  all.tests = response->body;
  all.site.sent = true;
  return read_into(asked, response->body, ask::read_sink_tests, all.site.tests);
}

/// Which jobs each agent reads, from the nodes of the newest jobs that are not over.
ask::Answer<void> ask_reading(const ask::Aggregator& asked, Site& site) {
  constexpr std::size_t kJobsMax = 20;
  std::vector<const ask::JobRow*> running;
  for (const ask::JobRow& job : site.jobs.jobs)
    if (!job.ended) running.push_back(&job);
  std::ranges::sort(running, std::greater<>(),
                    [](const ask::JobRow* job) { return job->last_seen; });
  running.resize(std::min(running.size(), kJobsMax));
  for (const ask::JobRow* job : running) {
    const auto body =
        ask::fetch_list(asked, fmt::format("/api/v1/jobs/{}/nodes", http::percent_encoded(job->id)),
                        "nodes", kTimeout);
    if (!body && body.error().is_not_found()) continue;  // it was let go meanwhile
    if (!body) return std::unexpected(body.error());
    const auto nodes = ask::read_nodes(*body);
    if (!nodes) return ask::misread(asked, nodes.error());
    for (const ask::NodeRow& node : *nodes)
      for (const std::string& agent : node.agents) {
        Reading& reading = site.reading[agent];
        if (reading.jobs.empty() || reading.jobs.back() != job->id) reading.jobs.push_back(job->id);
        reading.lines += node.records;
      }
  }
  return {};
}

ask::Answer<Answers> ask_all(const ask::Aggregator& asked, const CheckOptions& options) {
  Answers all;
  if (options.send)
    if (auto sent = send_tests(asked, options.sink, all); !sent)
      return std::unexpected(std::move(sent.error()));
  auto agents = ask::fetch_list(asked, "/api/v1/agents", "agents", kTimeout);
  if (!agents) return std::unexpected(agents.error());
  if (auto read = read_into(asked, *agents, ask::read_agents, all.site.agents); !read)
    return std::unexpected(read.error());
  all.agents = *std::move(agents);
  const auto jobs = ask::fetch_list(asked, "/api/v1/jobs", "jobs", kTimeout);
  if (!jobs) return std::unexpected(jobs.error());
  if (auto read = read_into(asked, *jobs, ask::read_jobs, all.site.jobs); !read)
    return std::unexpected(read.error());
  if (auto read = ask_reading(asked, all.site); !read) return std::unexpected(read.error());
  auto status = ask::fetch(asked, "/api/v1/status", kTimeout);
  if (!status && !status.error().is_not_found()) return std::unexpected(status.error());
  if (status) {
    if (auto read = read_into(asked, *status, ask::read_status, all.site.status); !read)
      return std::unexpected(read.error());
    all.status = *std::move(status);
  }
  // Its times are by its clock, which may not be ours.
  all.site.now = all.site.status ? all.site.status->now
                                 : std::chrono::floor<Millis>(std::chrono::system_clock::now());
  return all;
}

std::string behind_of(const ask::AgentRow& agent) {
  if (agent.batches_held == 0 && agent.bytes_held == 0) return "";
  return fmt::format("{}, {}", serve::grouped(agent.batches_held), serve::sized(agent.bytes_held));
}

std::string state_of(const Site& site, const ask::AgentRow& agent) {
  if (agent.lost) return "lost";
  if (is_silent(site, agent)) return "silent";
  return agent.connected ? "connected" : "away";
}

terminal::Row row_of(const Site& site, const ask::AgentRow& agent) {
  const auto found = site.reading.find(agent.agent);
  const Reading reading = found == site.reading.end() ? Reading{} : found->second;
  const Tone tone = agent.lost ? Tone::bad : is_well(site, agent) ? Tone::good : Tone::uneasy;
  return {{state_of(site, agent), tone},
          {agent.agent},
          {agent.address},
          {serve::grouped(agent.files), agent.files == 0 ? Tone::uneasy : Tone::plain},
          {reading.jobs.size() > 1 ? serve::counted(reading.jobs.size(), "job")
           : reading.jobs.empty()  ? std::string()
                                   : reading.jobs.front()},
          {reading.lines > 0 ? serve::grouped(reading.lines) : ""},
          {behind_of(agent)},
          {agent.offset_ms ? fmt::format("{:+} ms", *agent.offset_ms) : ""},
          {agent.heard ? serve::brief(std::max(site.now - *agent.heard, Millis{0})) + " ago" : ""}};
}

/// Agents that need a look come first; of many that are well the table has some.
void append_agents(serve::Page& page, const Site& site, std::size_t width) {
  constexpr std::size_t kRowsMax = 20;
  std::vector<ask::AgentRow> agents = site.agents.agents;
  if (agents.empty()) return;
  std::ranges::sort(agents, {}, [&](const ask::AgentRow& agent) {
    return std::tuple(!agent.lost, !is_silent(site, agent), is_well(site, agent), agent.agent);
  });
  const std::size_t shown = std::min(agents.size(), kRowsMax);
  std::vector<terminal::Row> rows;
  rows.reserve(shown);
  for (std::size_t i = 0; i < shown; ++i) rows.push_back(row_of(site, agents[i]));
  terminal::append_table(page,
                         {{"agent is"},
                          {"name", false, true},
                          {"address", false, true, 4},
                          {"logs", true, false, 3},
                          {"job", false, true, 6},
                          {"lines", true, false, 5},
                          {"held batches", true, false, 1},
                          {"clock", true, false, 2},
                          {"heard", true}},
                         std::move(rows), width);
  if (shown < agents.size())
    page.title({{fmt::format("and {} more; 'l4 agents' lists all", agents.size() - shown)}});
  page.gap();
}

std::string page_of(const Site& site, const std::vector<Remark>& remarks) {
  const std::size_t width = terminal::width_of_output();
  serve::Page page({.color = terminal::is_color_wanted(), .width = width});
  append_agents(page, site, width);
  terminal::append_remarks(page, remarks, width);
  page.gap();
  const std::size_t looks = terminal::count_looks(remarks);
  page.title({{terminal::verdict(looks), looks > 0 ? Tone::bad : Tone::good}});
  return page.release();
}

std::string json_of(const Answers& all, const std::string& address,
                    const std::vector<Remark>& remarks) {
  serve::JsonWriter json;
  json.open('{').member("schema", "l4.check/1").member("address", address);
  json.member("well", terminal::count_looks(remarks) == 0).key("findings");
  terminal::write_remarks(json, remarks);
  json.key("reading").open('[');
  for (const auto& [agent, reading] : all.site.reading)
    json.open('{')
        .member("agent", agent)
        .member("jobs", reading.jobs)
        .member("lines", reading.lines)
        .close('}');
  json.close(']').key("aggregator").raw(all.status).key("agents").raw(all.agents);
  json.key("tests").raw(all.tests).close('}');
  return ask::tidied_json(json.release()).value_or("");
}

void add_check(terminal::Options& to, CheckOptions& options) {
  ask::add_asking(to, options);
  to.flag("--send", options.send, "send a test alert through the sinks");
  to.value("--sink", options.sink, "NAME", "with --send: through this sink alone");
  to.format(options.format);
}

Result<void> check_options(const CheckOptions& options) {
  if (!options.sink.empty() && !options.send)
    return std::unexpected(Error{"--sink", "names the sink of --send, which is missing"});
  return ask::check_asking(options);
}

}  // namespace

terminal::Command check_command() {
  return terminal::command("check", "is a running site well: agents, logs, clocks, sinks", kFooter,
                           add_check, run_check, check_options);
}

int run_check(const CheckOptions& options) {
  const auto asked = ask::find_aggregator(options);
  if (!asked) return terminal::fail(asked.error().error, asked.error().exit, kProgram);
  const auto all = ask_all(*asked, options);
  if (!all) return terminal::fail(all.error().error, all.error().exit, kProgram);
  const std::vector<Remark> remarks = findings(all->site);
  const int written =
      terminal::write_text(options.format == "json" ? json_of(*all, asked->address, remarks)
                                                    : page_of(all->site, remarks),
                           {}, kProgram);
  if (written != terminal::kDone) return written;
  return terminal::count_looks(remarks) > 0 ? terminal::kFailureFound : terminal::kDone;
}

}  // namespace l4::commands::check
