#include "tools/l4/commands/check/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "aggregator/serve/phrases.h"
#include "common/config/config_dir.h"

namespace l4::commands::check {
namespace {

using terminal::Mark;
using terminal::Remark;

// Where the rules for Prometheus warn: L4AgentsBehind, L4ClockOffset, L4JournalAlmostFull.
constexpr std::uint64_t kBatchesBehind = 20;
constexpr std::int64_t kClockMs = 5'000;
constexpr double kJournalFull = 0.8;
constexpr std::int64_t kDiskFreeMin = std::int64_t{1} << 30;

bool is_behind(const ask::AgentRow& agent) {
  return agent.batches_held > kBatchesBehind;
}

bool sheds(const ask::AgentRow& agent) {
  return !agent.shedding.empty() && agent.shedding != "nothing";
}

bool has_wrong_clock(const ask::AgentRow& agent) {
  return agent.offset_ms && std::abs(*agent.offset_ms) > kClockMs;
}

std::string ago(std::optional<TimeMs> time, TimeMs now) {
  return time ? serve::brief(std::max(now - *time, Millis{0})) : std::string("an unknown time");
}

/// Where a heading of the page on alerts can be read.
std::string alerts_page(std::string_view heading) {
  return fmt::format("{}#{}", manual_page("ALERTS.md"), heading);
}

/// "node-1, node-2 and 12 more"
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
    text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

/// One finding about all agents of which `has` holds: `text` says it of one.
void add_agents(const Site& site, std::vector<Remark>& to, Mark mark,
                const std::function<bool(const ask::AgentRow&)>& has,
                const std::function<std::string(const ask::AgentRow&)>& text,
                const std::string& next) {
  std::vector<std::string> which;
  for (const ask::AgentRow& agent : site.agents.agents)
    if (has(agent)) which.push_back(text(agent));
  if (!which.empty()) to.push_back({mark, "agents", listed(which), next});
}

void add_aggregator(const Site& site, std::vector<Remark>& to) {
  if (!site.status) {
    to.push_back({Mark::note, "aggregator",
                  "it is of an earlier version and says nothing of its disk and its sinks", ""});
    return;
  }
  const ask::StatusRow& status = *site.status;
  const std::string about =
      fmt::format("{}, up {}", status.software, ago(status.started, site.now));
  if (status.reasons.empty()) to.push_back({Mark::fine, "aggregator", about, ""});
  for (const std::string& reason : status.reasons)
    to.push_back({Mark::look, "aggregator", fmt::format("{}: {}", about, reason),
                  "its log says more, and " + alerts_page("l4degraded") + " what to do"});
  if (status.disk_bytes && status.disk_free_bytes) {
    const std::int64_t least = std::min(kDiskFreeMin, *status.disk_bytes / 20);
    Remark disk{
        Mark::fine, "disk",
        fmt::format("{} of {} free at {}",
                    serve::sized(static_cast<std::uint64_t>(*status.disk_free_bytes)),
                    serve::sized(static_cast<std::uint64_t>(*status.disk_bytes)), status.folder),
        ""};
    if (*status.disk_free_bytes < least) {
      disk.mark = Mark::look;
      disk.next = "make room: with a full disk it takes nothing from agents";
    }
    to.push_back(std::move(disk));
  }
  if (static_cast<double>(status.journal_bytes) >
      kJournalFull * static_cast<double>(status.journal_bytes_max))
    to.push_back(
        {Mark::look, "disk",
         fmt::format("the journal has {} of the {} that it may have",
                     serve::sized(status.journal_bytes), serve::sized(status.journal_bytes_max)),
         alerts_page("l4journalalmostfull") + " says what to do"});
}

void add_links(const Site& site, std::vector<Remark>& to) {
  const auto& agents = site.agents.agents;
  if (site.agents.blind)
    to.push_back({Mark::look, "agents", "too many fell silent at once for any to be called lost",
                  "look at the network and at the aggregator's host first"});
  const bool some_never_came = site.status && site.status->absent && !site.status->absent->empty();
  if (agents.empty() && !some_never_came)
    to.push_back({Mark::look, "agents", "no agent has connected",
                  "start l4-agent on a node; if it runs, its log says why it does not connect"});
  const auto connected = std::ranges::count_if(agents, &ask::AgentRow::connected);
  std::uint64_t files = 0;
  for (const ask::AgentRow& agent : agents) files += agent.connected ? agent.files : 0;
  if (connected > 0)
    to.push_back({Mark::fine, "agents",
                  fmt::format("{} connected, {}",
                              serve::counted(static_cast<std::uint64_t>(connected), "agent"),
                              serve::counted(files, "log")),
                  ""});
  add_agents(
      site, to, Mark::look, [](const auto& agent) { return agent.lost; },
      [&](const auto& agent) {
        return fmt::format("{} is lost, last heard {} ago", agent.agent,
                           ago(agent.heard, site.now));
      },
      "see there whether the node is up and l4-agent runs: systemctl status l4-agent");
  add_agents(
      site, to, Mark::look, [&](const auto& agent) { return is_silent(site, agent); },
      [&](const auto& agent) {
        return fmt::format("{} was last heard {} ago, and is not called lost yet", agent.agent,
                           ago(agent.heard, site.now));
      },
      "see there whether the node is up and l4-agent runs: systemctl status l4-agent");
  add_agents(
      site, to, Mark::note, [](const auto& agent) { return !agent.connected && !agent.lost; },
      [&](const auto& agent) {
        return fmt::format("{} is away since {}", agent.agent, ago(agent.heard, site.now));
      },
      "");
  if (some_never_came) {
    const std::vector<std::string>& absent = *site.status->absent;
    to.push_back(
        {Mark::look, "agents",
         fmt::format(
             "{} may connect and {} not been heard since the aggregator started, {} ago: {}",
             serve::counted(absent.size(), "node"), absent.size() == 1 ? "has" : "have",
             ago(site.status->started, site.now), listed(absent)),
         "start l4-agent there; of a node that is gone for good: l4 keys revoke " +
             absent.front()});
  }
}

void add_reading(const Site& site, std::vector<Remark>& to) {
  // Before the first job there is nothing to read.
  const Mark idle = site.jobs.jobs.empty() ? Mark::note : Mark::look;
  add_agents(
      site, to, idle, [](const auto& agent) { return agent.connected && agent.files == 0; },
      [](const auto& agent) { return agent.agent + " reads no file"; },
      "see there which sources match none: l4 check-config /etc/l4/agent.toml");
  std::map<std::string, std::vector<std::string>> agents_of;
  for (const auto& agent : site.agents.agents)
    for (const std::string& hint : agent.hints) agents_of[hint].push_back(agent.agent);
  for (const auto& [hint, names] : agents_of)
    to.push_back(
        {Mark::look, "source",
         fmt::format("{}{}: {}", names.front(),
                     names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "", hint),
         "mend [logs] sources there, then: systemctl reload l4-agent"});
  add_agents(
      site, to, Mark::look,
      [](const auto& agent) { return agent.connected && (is_behind(agent) || sheds(agent)); },
      [](const auto& agent) {
        return fmt::format("{} is behind by {} batches ({}){}", agent.agent,
                           serve::grouped(agent.batches_held), serve::sized(agent.bytes_held),
                           sheds(agent) ? " and leaves out " + agent.shedding : std::string());
      },
      alerts_page("l4agentsbehind") + " says what to do");
  add_agents(
      site, to, Mark::look,
      [](const auto& agent) { return agent.connected && has_wrong_clock(agent); },
      [](const auto& agent) {
        const std::int64_t by = agent.offset_ms.value_or(0);
        return fmt::format("the clock of {} is {} {}", agent.agent,
                           serve::brief(Millis{std::abs(by)}), by > 0 ? "ahead" : "behind");
      },
      "see whether chrony or ntpd runs there, and on the aggregator if all nodes differ");
}

void add_jobs(const Site& site, std::vector<Remark>& to) {
  if (site.jobs.jobs.empty()) {
    to.push_back({Mark::note, "jobs", "no job is known yet", ""});
    return;
  }
  std::uint64_t lines = 0, running = 0;
  std::optional<TimeMs> newest;
  for (const ask::JobRow& job : site.jobs.jobs) {
    lines += job.lines;
    running += job.ended ? 0U : 1U;
    newest = std::max(newest, job.last_seen);
  }
  to.push_back({Mark::fine, "jobs",
                fmt::format("{} known, {} not over, {}, the last {} ago",
                            serve::counted(site.jobs.jobs.size(), "job"), serve::grouped(running),
                            serve::counted(lines, "line"), ago(newest, site.now)),
                ""});
  // A failed job is no fault of the site, but often the reason for which somebody looks.
  std::vector<std::string> failed;
  const ask::JobRow* latest = nullptr;
  for (const ask::JobRow& job : site.jobs.jobs) {
    if (job.incident.empty()) continue;
    failed.push_back(fmt::format("{} ({})", job.id, job.state));
    if (latest == nullptr || latest->since < job.since) latest = &job;
  }
  if (latest != nullptr)
    to.push_back({Mark::note, "jobs", "failed: " + listed(failed), "l4 snapshot " + latest->id});
}

Remark remark_on(const ask::SinkTestRow& test) {
  if (test.took)
    return {Mark::fine, "sinks",
            fmt::format("{} ({}) took the test alert in {} ms", test.sink, test.kind, test.ms), ""};
  return {Mark::look, "sinks",
          fmt::format("{} ({}) did not take the test alert: {}", test.sink, test.kind, test.error),
          "correct it in [[alerts.sink]] of aggregator.toml, then systemctl reload l4-aggregator"};
}

Remark remark_on(const ask::SinkRow& sink, TimeMs now) {
  const std::string name = fmt::format("{} ({})", sink.sink, sink.kind);
  const std::string waits = sink.waiting > 0
                                ? fmt::format("; {} wait{}", serve::counted(sink.waiting, "alert"),
                                              sink.waiting == 1 ? "s" : "")
                                : std::string();
  if (!sink.trouble.empty())
    return {
        Mark::look, "sinks",
        fmt::format("{} failed {} ago: {}{}", name, ago(sink.tried, now), sink.trouble, waits),
        "correct it in [[alerts.sink]] of aggregator.toml, then systemctl reload l4-aggregator"};
  if (!sink.tried)
    return {Mark::note, "sinks", fmt::format("{}: nothing was sent yet{}", name, waits),
            "l4 check --send tries it"};
  return {Mark::fine, "sinks",
          fmt::format("{} answered {} ago, {} taken{}", name, ago(sink.tried, now),
                      serve::counted(sink.posted, "alert"), waits),
          ""};
}

void add_sinks(const Site& site, std::vector<Remark>& to) {
  for (const ask::SinkTestRow& test : site.tests) to.push_back(remark_on(test));
  if (!site.status) return;
  if (site.status->sinks.empty()) {
    to.push_back({site.sent ? Mark::look : Mark::note, "sinks",
                  "none is set: alerts stand in the aggregator's log alone",
                  alerts_page("sinks") + " shows how to add one"});
    return;
  }
  for (const ask::SinkRow& sink : site.status->sinks) {
    if (std::ranges::find(site.tests, sink.sink, &ask::SinkTestRow::sink) == site.tests.end())
      to.push_back(remark_on(sink, site.now));
    if (sink.dropped > 0)
      to.push_back({Mark::look, "sinks",
                    fmt::format("{} alerts to {} could not be kept", sink.dropped, sink.sink),
                    "it failed for too long; the log says since when"});
  }
}

}  // namespace

bool is_silent(const Site& site, const ask::AgentRow& agent) {
  constexpr Millis kUsual{11'000};
  const Millis most =
      site.status ? Millis{static_cast<std::int64_t>(site.status->lost_after_ms)} : kUsual;
  return agent.connected && !agent.lost && agent.heard && site.now - *agent.heard > most;
}

bool is_well(const Site& site, const ask::AgentRow& agent) {
  return agent.connected && !is_silent(site, agent) && agent.files > 0 && !is_behind(agent) &&
         !sheds(agent) && !has_wrong_clock(agent);
}

std::vector<Remark> findings(const Site& site) {
  std::vector<Remark> all;
  add_aggregator(site, all);
  add_links(site, all);
  add_reading(site, all);
  add_jobs(site, all);
  add_sinks(site, all);
  return all;
}

}  // namespace l4::commands::check
