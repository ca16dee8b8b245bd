#include "tools/l4/commands/live_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "aggregator/serve/page.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/serve/utf8.h"
#include "tools/l4/terminal/table.h"

namespace l4::commands {
namespace {

using serve::Page;
using serve::Tone;
using terminal::Row;

/// "4 min ago"; empty for no time.
std::string ago(std::optional<TimeMs> time, TimeMs now) {
  if (!time) return "";
  return serve::brief(std::max(now - *time, Millis{0})) + " ago";
}

std::string or_nothing(std::uint64_t count) {
  return count == 0 ? "" : serve::grouped(count);
}

/// The place of a state in the list, and its colour. An unknown state is shown as it was sent.
struct StateLook {
  int order;
  Tone tone;
};

StateLook look_of(const ask::JobRow& job) {
  if (job.state == "healthy")
    return job.suspect ? StateLook{2, Tone::uneasy} : StateLook{3, Tone::good};
  if (job.state == "finished") return {5, Tone::plain};
  if (job.state == "unknown")
    return job.suspect ? StateLook{2, Tone::uneasy} : StateLook{4, Tone::plain};
  if (job.suspect || job.state == "slow") return {1, Tone::uneasy};
  return {0, Tone::bad};
}

bool is_failed(const ask::JobRow& job) {
  return look_of(job).order < 2;
}

/// "hung?" while it is only suspected.
std::string state_of(const ask::JobRow& job) {
  return serve::spoken(job.state) + (job.suspect ? "?" : "");
}

/// The read share of the logs; 100 % only if all is read.
std::string read_of(const ask::JobRow& job) {
  if (job.completeness >= 0.99995) return "";
  return fmt::format("{:.1f} %", std::clamp(job.completeness, 0.0, 0.999) * 100);
}

/// "1,021 of 1,024" while some ranks are not known.
serve::Span ranks_of(const ask::JobRow& job, Tone tone) {
  const auto expected =
      static_cast<std::uint64_t>(std::max<std::int64_t>(job.ranks_expected.value_or(0), 0));
  if (job.ranks_mapped >= expected) return {serve::grouped(job.ranks), tone};
  return {serve::grouped(job.ranks_mapped) + " of " + serve::grouped(expected), Tone::uneasy};
}

/// "alice"; "alice, bob"; "alice and 3 more".
std::string users_of(const ask::JobRow& job) {
  if (job.users.size() > 2)
    return fmt::format("{} and {} more", job.users.front(), job.users.size() - 1);
  return fmt::format("{}", fmt::join(job.users, ", "));
}

Row row_of(const ask::JobRow& job, TimeMs now) {
  const Tone tone = job.ended ? Tone::dim : Tone::plain;
  return {{state_of(job), look_of(job).tone},
          {job.id, is_failed(job) ? Tone::strong : tone},
          {users_of(job), tone},
          {job.attempt > 0 ? std::to_string(job.attempt) : "", tone},
          {is_failed(job) ? ago(job.since, now) : "", tone},
          {serve::spoken(job.stage), tone},
          {job.iteration ? std::to_string(*job.iteration) : "", tone},
          {serve::grouped(job.nodes), tone},
          ranks_of(job, tone),
          {serve::grouped(job.lines), tone},
          {read_of(job), Tone::uneasy},
          {or_nothing(job.notices), Tone::uneasy},
          {(job.ended ? "ended " : "") + ago(job.last_seen, now), tone}};
}

std::string link_of(const ask::AgentRow& agent) {
  return agent.lost ? "lost" : agent.connected ? "connected" : "away";
}

int order_of(const ask::AgentRow& agent) {
  return agent.lost ? 0 : agent.connected ? 2 : 1;
}

std::string held_of(const ask::AgentRow& agent) {
  if (agent.batches_held == 0 && agent.bytes_held == 0) return "";
  return fmt::format(
      "{}, {}",
      agent.batches_held == 1 ? "1 batch" : serve::grouped(agent.batches_held) + " batches",
      serve::sized(agent.bytes_held));
}

Row row_of(const ask::AgentRow& agent, TimeMs now) {
  constexpr std::array kTones{Tone::bad, Tone::uneasy, Tone::good};
  const auto millis = [](std::optional<std::int64_t> value, const char* form) {
    return value ? fmt::format(fmt::runtime(form), *value) : std::string();
  };
  const bool sheds = !agent.shedding.empty() && agent.shedding != "nothing";
  return {{link_of(agent), kTones[static_cast<std::size_t>(order_of(agent))]},
          {agent.agent, agent.lost ? Tone::strong : Tone::plain},
          {agent.address},
          {agent.fleet_key ? "fleet" : ""},
          {agent.software},
          {serve::grouped(agent.files)},
          {or_nothing(agent.batches_in_flight)},
          {held_of(agent)},
          {sheds ? agent.shedding : "", Tone::uneasy},
          {millis(agent.offset_ms, "{:+} ms")},
          {millis(agent.delay_ms, "{} ms")},
          {ago(agent.heard, now)}};
}

std::string status_of(const ask::IncidentRow& row) {
  return row.is_resolved() ? "resolved" : "open";
}

/// Who has the incident, or the maintenance that its alert was held back for.
std::string attended(const ask::IncidentRow& row) {
  if (!row.acknowledged_by.empty()) return row.acknowledged_by;
  return row.maintenance.empty() ? "" : "maintenance " + row.maintenance;
}

Row row_of(const ask::IncidentRow& row, TimeMs now) {
  const Tone tone = row.is_resolved() ? Tone::dim : Tone::plain;
  return {{status_of(row), row.is_resolved() ? Tone::dim : Tone::bad},
          {serve::spoken(row.state), row.is_resolved() ? Tone::dim : Tone::uneasy},
          {row.job, row.is_resolved() ? Tone::dim : Tone::strong},
          {row.attempt > 0 ? std::to_string(row.attempt) : "", tone},
          {ago(row.opened, now), tone},
          {row.resolved ? "after " + serve::brief(*row.resolved - row.opened) : "", tone},
          {attended(row), tone},
          {row.id, tone}};
}

/// 3 jobs · 1 crashed · 2 healthy, in the order of the rows.
template <class Items, class Word>
std::string summary(const Items& items, std::string_view noun, Word word) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const auto& item : items) {
    const auto found = std::ranges::find(counts, word(item), [](const auto& c) { return c.first; });
    if (found != counts.end()) {
      ++found->second;
    } else if (counts.size() < 12) {
      counts.emplace_back(word(item), 1);
    }
  }
  std::string text = serve::counted(items.size(), noun);
  for (const auto& [what, count] : counts)
    text += fmt::format(" · {} {}", serve::grouped(count), what);
  return text;
}

/// What the sources of agents miss; the same hint of several agents once.
void append_hints(Page& page, const std::vector<ask::AgentRow>& agents) {
  constexpr std::size_t kHintsShown = 12;
  std::map<std::string, std::vector<std::string>> agents_of;
  for (const ask::AgentRow& agent : agents)
    for (const std::string& hint : agent.hints) agents_of[hint].push_back(agent.agent);
  if (agents_of.empty()) return;
  page.gap();
  std::size_t shown = 0;
  for (const auto& [hint, names] : agents_of) {
    if (++shown > kHintsShown) break;
    page.label("hint");
    const std::string who = names.size() == 1
                                ? names.front()
                                : fmt::format("{} and {} more", names.front(), names.size() - 1);
    page.prose("", fmt::format("{}: {}", who, hint), 3, 0);
  }
  if (agents_of.size() > kHintsShown)
    page.row({{fmt::format("and {} more", agents_of.size() - kHintsShown), Tone::dim}});
}

}  // namespace

std::string to_text(const ask::JobList& list, TimeMs now, const serve::TextStyle& style) {
  Page page(style);
  if (list.jobs.empty()) {
    page.title({{"no job is watched; 'l4 agents' shows who is connected"}});
    return page.release();
  }
  std::vector<ask::JobRow> jobs = list.jobs;
  const auto key = [](const ask::JobRow& job) {
    const auto newest = job.since.value_or(job.last_seen.value_or(TimeMs{})).time_since_epoch();
    return std::tuple(look_of(job).order, job.ended, -newest.count(), job.id);
  };
  std::ranges::sort(jobs, {}, key);
  std::vector<Row> rows;
  rows.reserve(jobs.size());
  for (const ask::JobRow& job : jobs) rows.push_back(row_of(job, now));
  terminal::append_table(page,
                         {{"state"},
                          {"job", false, true},
                          {"user", false, true, 2},
                          {"attempt", true, false, 4},
                          {"since", true},
                          {"stage"},
                          {"iteration", true, false, 2},
                          {"nodes", true, false, 5},
                          {"ranks", true, false, 3},
                          {"lines", true, false, 6},
                          {"read", true, false, 1},
                          {"notices", true, false, 3},
                          {"last line", true}},
                         std::move(rows), style.width);
  page.gap();
  page.title({{summary(jobs, "job", state_of), Tone::dim}});
  if (list.more) page.title({{"and more jobs, which the aggregator did not list", Tone::uneasy}});
  return page.release();
}

std::string to_text(const ask::AgentList& list, TimeMs now, const serve::TextStyle& style) {
  Page page(style);
  if (list.blind) {
    page.title({{"The aggregator is blind", Tone::bad},
                {": too many agents fell silent at once for any to be called lost. Look at its "
                 "network first."}});
    page.gap();
  }
  if (list.agents.empty()) {
    page.title({{"no agent has connected yet"}});
    return page.release();
  }
  std::vector<ask::AgentRow> agents = list.agents;
  std::ranges::sort(agents, {}, [](const ask::AgentRow& agent) {
    return std::tuple(order_of(agent), agent.agent, agent.address);
  });
  std::vector<Row> rows;
  rows.reserve(agents.size());
  for (const ask::AgentRow& agent : agents) rows.push_back(row_of(agent, now));
  terminal::append_table(page,
                         {{"state"},
                          {"agent", false, true},
                          {"address", false, true},
                          {"key", false, false, 3},
                          {"version", false, true, 5},
                          {"files", true, false, 4},
                          {"sent", true, false, 7},
                          {"held", true, false, 1},
                          {"left out", false, false, 1},
                          {"clock", true, false, 2},
                          {"delay", true, false, 6},
                          {"heard", true}},
                         std::move(rows), style.width);
  append_hints(page, agents);
  page.gap();
  page.title({{summary(agents, "agent", link_of), Tone::dim}});
  return page.release();
}

std::string to_text(const std::vector<ask::SnapshotRow>& rows, TimeMs now,
                    const serve::TextStyle& style) {
  Page page(style);
  if (rows.empty()) {
    page.title({{"no snapshot is stored"}});
    return page.release();
  }
  std::vector<Row> cells;
  cells.reserve(rows.size());
  for (const ask::SnapshotRow& row : rows)
    cells.push_back(Row{{serve::harmless(row.state)},
                        {to_rfc3339(row.at)},
                        {ago(row.at, now)},
                        {serve::harmless(row.why == "asked" ? "asked by " + row.who : row.who)},
                        {serve::harmless(row.id)}});
  terminal::append_table(page,
                         {{"state"},
                          {"of", false, true},
                          {"age", true, false, 1},
                          {"why", false, true},
                          {"id", false, true}},
                         std::move(cells), style.width);
  return page.release();
}

std::string to_text(const ask::IncidentList& list, TimeMs now, const serve::TextStyle& style) {
  Page page(style);
  if (list.incidents.empty()) {
    page.title({{"no incident"}});
    return page.release();
  }
  std::vector<ask::IncidentRow> sorted = list.incidents;
  std::ranges::stable_sort(sorted, {}, [](const ask::IncidentRow& row) {
    return std::pair(row.is_resolved(), -row.opened.time_since_epoch().count());
  });
  std::vector<Row> cells;
  cells.reserve(sorted.size());
  for (const ask::IncidentRow& row : sorted) cells.push_back(row_of(row, now));
  terminal::append_table(page,
                         {{"status"},
                          {"state"},
                          {"job", false, true, 1},
                          {"attempt", true, false, 3},
                          {"opened", true},
                          {"resolved", true, false, 2},
                          {"with", false, false, 4},
                          {"id", false, true}},
                         std::move(cells), style.width);
  page.gap();
  page.title({{summary(sorted, "incident", status_of), Tone::dim}});
  if (list.more) page.title({{"and older ones; --count shows more", Tone::uneasy}});
  return page.release();
}

}  // namespace l4::commands
