#include "aggregator/serve/suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/serve/finding_fields.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/serve/utf8.h"

namespace l4::serve {
namespace {

using diagnose::IndicatingEvent;
using diagnose::Report;
using diagnose::SuspectNode;
using diagnose::SuspectRank;

constexpr std::size_t kNameCellsMax = 28;
constexpr double kWorthNaming = 0.05;  ///< a node below this score is only counted
constexpr double kWorthReasons = 0.2;  ///< a node below this score gets one line, except the first
constexpr double kStandsOut = 0.3;

std::string padded(std::string text, std::size_t width) {
  text.append(width - std::min(width, cells(text)), ' ');
  return text;
}

/// The day of the report: times on other days are printed with their date.
std::optional<TimeMs> day_of(const Report& report) {
  return report.verdict.since ? report.verdict.since : report.job.end;
}

std::string who(const std::string& node, std::optional<Rank> rank) {
  std::string text = shortened(node, kNameCellsMax);
  if (rank) text += fmt::format("{}rank {}", text.empty() ? "" : " ", rank->value());
  return text;
}

std::vector<std::string> rank_facts(const Report& report, const SuspectRank& rank) {
  std::vector<std::string> facts;
  if (rank.rank) facts.push_back(fmt::format("rank {}", rank.rank->value()));
  if (rank.process != diagnose::Process::unknown)
    facts.push_back(fmt::format("process {}", name(rank.process)));
  if (rank.last_line) facts.push_back("last line " + time_text(*rank.last_line, day_of(report)));
  if (facts.size() < 2) return {};
  if (!rank.why.empty()) facts.push_back(rank.why.front());
  return facts;
}

/// The first node gets all its reasons; the others get few, so that the page fits on one screen.
void render_node(Page& page, const Report& report, const SuspectNode& node, std::size_t place,
                 std::size_t name_cells, bool crowded) {
  const std::string ranks = ranks_text(node.ranks, 4);
  std::string rest =
      fmt::format("   {:<14} {:>5}", certainty(node.confidence), percent(node.confidence));
  if (!ranks.empty()) rest += "   " + ranks;
  const bool has_room = place == 0 || (!crowded && node.confidence >= kWorthReasons);
  if (has_room && node.first_seen)
    rest += fmt::format("{}first sign {}", ranks.empty() ? "   " : " · ",
                        time_text(*node.first_seen, day_of(report)));
  if (!has_room && !node.why.empty()) rest += " · " + node.why.front();
  page.row({{padded(shortened(node.node, kNameCellsMax), name_cells), Tone::strong}, {rest}});
  if (!has_room) return;
  const std::size_t whys = place == 0 ? 3 : 1;
  for (std::size_t i = 0; i < std::min(whys, node.why.size()); ++i)
    page.prose("", node.why[i], place == 0 ? 2 : 1, 2);
  if (place > 0) return;
  std::size_t shown = 0;
  for (const SuspectRank& rank : report.ranks) {
    if (rank.node != node.node || rank_facts(report, rank).empty()) continue;
    page.facts(rank_facts(report, rank), 2);
    if (++shown == 2) break;
  }
}

void render_ranks_alone(Page& page, const Report& report, std::size_t top) {
  const std::size_t shown = std::min({report.ranks.size(), top, std::size_t{4}});
  for (std::size_t i = 0; i < shown; ++i) {
    auto facts = rank_facts(report, report.ranks[i]);
    if (facts.empty()) facts = report.ranks[i].why;
    const std::string node = shortened(report.ranks[i].node, kNameCellsMax);
    facts.insert(facts.begin(), node.empty() ? "?" : node);
    page.facts(facts, 0, Tone::plain);
  }
}

void render_no_suspect(Page& page, const Report& report, std::size_t top) {
  const bool all = report.verdict.scope == Scope::all;
  page.row(all ? "no single node: all of them show it"
               : "not known: no node stands out from the others");
  render_ranks_alone(page, report, top);
}

std::string times(std::uint64_t count) {
  return count == 1 ? "once" : grouped(count) + " times";
}

std::string where_text(const IndicatingEvent& event) {
  if (event.nodes.size() > 1) return "on " + counted(event.nodes.size(), "node");
  const std::string node =
      shortened(event.nodes.empty() ? event.first.node : event.nodes.front(), kNameCellsMax);
  std::string ranks = ranks_text(event.ranks, 3);
  if (node.empty()) return ranks;
  return "on " + node + (ranks.empty() ? "" : " " + ranks);
}

std::string reasons(const IndicatingEvent& event) {
  std::string text;
  for (const diagnose::Why why : event.why)
    text += (text.empty() ? "" : ", ") + std::string(name(why));
  return text;
}

/// File and line of the first example; a long path is cut at its beginning.
std::string location(const IndicatingEvent& event) {
  constexpr std::size_t kCellsMax = 44;
  if (event.examples.empty()) return "";
  std::string file = harmless(event.examples[0].file);
  while (cells(file) > kCellsMax) {
    const std::size_t slash = file.find('/', file.starts_with("…/") ? 4 : 1);
    if (slash == std::string::npos) break;
    file = "…" + file.substr(slash);
  }
  return fmt::format("{}:{}", cut(file, kCellsMax), event.examples[0].line);
}

std::vector<std::string> event_facts(const Report& report, const IndicatingEvent& event) {
  std::vector<std::string> facts{times(event.count) + " " + where_text(event)};
  if (event.first.time) facts.push_back(time_text(*event.first.time, day_of(report)));
  facts.push_back(location(event));
  if (event.nodes.size() > 1 && event.examples.empty() && !event.first.node.empty())
    facts.push_back("first " + who(event.first.node, event.first.rank));
  facts.push_back(reasons(event));
  for (std::size_t i = 0; i < std::min<std::size_t>(event.parameters.size(), 2); ++i)
    facts.push_back(fmt::format("{} {}", spoken(serve::name(event.parameters[i].kind)),
                                shortened(event.parameters[i].value, kNameCellsMax)));
  facts.push_back(to_string(event.id));
  return facts;
}

void render_event(Page& page, const Report& report, const IndicatingEvent& event, bool detailed) {
  constexpr std::size_t kRoleCells = 8;
  const bool root = event.role == Role::root;
  const std::string word = root ? "ROOT" : event.role == Role::direct ? "direct" : "after";
  const Span role{padded(word, kRoleCells), root ? Tone::bad : Tone::dim};
  if (detailed) {
    page.row({role, {event.text, root ? Tone::strong : Tone::plain}});
    return page.facts(event_facts(report, event), kRoleCells);
  }
  const std::string count = fmt::format("  {} {}", times(event.count), where_text(event));
  const std::size_t count_cells = std::min(cells(count), page.room() / 2);
  const std::size_t text_cells = page.room() - kRoleCells - count_cells;
  page.row({role, {padded(shortened(event.text, text_cells), text_cells)}, {count, Tone::dim}});
}

/// "and 14 consequences on 7 nodes (1,022 times)"
std::string consequences_text(const std::vector<const IndicatingEvent*>& events) {
  std::set<std::string_view> nodes;
  std::uint64_t count = 0;
  for (const IndicatingEvent* event : events) {
    nodes.insert(event->nodes.begin(), event->nodes.end());
    count += event->count;
  }
  std::string text = "and " + counted(events.size(), "consequence");
  if (!nodes.empty()) text += " on " + counted(nodes.size(), "node");
  return text + fmt::format(" ({})", times(count));
}

}  // namespace

std::string shortened(std::string_view text, std::size_t cells_max) {
  return cut(harmless(text), cells_max);
}

/// Ranks that lines name, of nodes that no line names, if they lead.
void render_ranks_without_node(Page& page, const Report& report) {
  for (const SuspectRank& rank : report.ranks) {
    if (!rank.node.empty() || !rank.rank) break;
    page.row(
        {{fmt::format("rank {}", rank.rank->value()), Tone::strong}, {"   of an unknown node"}});
    if (!rank.why.empty()) page.prose("", rank.why.front(), 2, 2);
  }
}

void render_suspects(Page& page, const Report& report, std::size_t top) {
  page.gap();
  page.label("suspects");
  render_ranks_without_node(page, report);
  if (report.nodes.empty()) return render_no_suspect(page, report, top);
  if (report.nodes.front().confidence < kStandsOut)
    page.row("no node stands out; the least unlikely first:");
  std::size_t named = 1;
  while (named < report.nodes.size() && report.nodes[named].confidence >= kWorthNaming) ++named;
  const std::size_t shown = std::min(named, std::max<std::size_t>(top, 1));
  std::size_t name_cells = 0;
  for (std::size_t i = 0; i < shown; ++i)
    name_cells = std::max(name_cells, cells(shortened(report.nodes[i].node, kNameCellsMax)));
  for (std::size_t i = 0; i < shown; ++i)
    render_node(page, report, report.nodes[i], i, name_cells, shown > 3);
  const std::size_t rest = report.nodes.size() - shown;
  if (rest == 0) return;
  const double best = report.nodes[shown].confidence;
  page.row(
      {{fmt::format("and {} (at most {})", counted(rest, "more node"), percent(best)), Tone::dim}});
}

void render_events(Page& page, const Report& report, std::size_t top) {
  page.gap();
  page.label("events");
  if (report.events.empty())
    return page.row("none: no line points at it, the verdict rests on silence and timing");
  std::vector<const IndicatingEvent*> causes, consequences;
  for (const Role role : {Role::root, Role::direct, Role::consequence})
    for (const IndicatingEvent& event : report.events)
      if (event.role == role) (role == Role::consequence ? consequences : causes).push_back(&event);
  if (causes.empty()) {
    page.row("only consequences; no line shows a cause:");
    causes.push_back(consequences.front());
    consequences.erase(consequences.begin());
  }
  constexpr std::size_t kDetailed = 3;
  const std::size_t shown = std::min(causes.size(), std::max<std::size_t>(top, 1));
  for (std::size_t i = 0; i < shown; ++i) render_event(page, report, *causes[i], i < kDetailed);
  if (causes.size() > shown)
    page.row({{"and " + counted(causes.size() - shown, "more event"), Tone::dim}});
  if (!consequences.empty()) page.row({{consequences_text(consequences), Tone::dim}});
}

}  // namespace l4::serve
