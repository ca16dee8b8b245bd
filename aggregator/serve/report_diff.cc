#include "aggregator/serve/report_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/serve/json_text.h"
#include "aggregator/serve/page.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/serve/utf8.h"

namespace l4::serve {
namespace {

using diagnose::Report;

/// One entry of a list: its text, and the value that may have changed.
struct Item {
  std::string text;
  std::string value;  ///< empty: the entry has no such value
  bool operator==(const Item&) const = default;
};

struct Fact {
  std::string_view what;
  std::string before, now;  ///< empty: not known
};

struct Change {
  std::string key, text, before, now;
};

struct ListDiff {
  std::string_view what;
  std::vector<Change> fresh, gone, changed;
};

std::string said(std::optional<TimeMs> time) {
  return time && is_sayable(*time) ? to_rfc3339(*time) : std::string();
}

std::string said(std::optional<Iteration> iteration) {
  return iteration ? std::to_string(iteration->value()) : std::string();
}

std::vector<Fact> facts_of(const Report& before, const Report& now) {
  const auto& a = before.verdict;
  const auto& b = now.verdict;
  const auto stage = [](Stage known) {
    return known == Stage::unknown ? std::string() : std::string(name(known));
  };
  std::vector<Fact> facts{
      {"job", before.job.id, now.job.id},
      {"attempt", std::to_string(before.job.attempt), std::to_string(now.job.attempt)},
      {"state", std::string(name(a.state)), std::string(name(b.state))},
      {"scope", std::string(name(a.scope)), std::string(name(b.scope))},
      {"since", said(a.since), said(b.since)},
      {"stage", stage(a.stage), stage(b.stage)},
      {"iteration", said(a.iteration), said(b.iteration)},
      {"confidence", percent(a.confidence), percent(b.confidence)},
      {"end", said(before.job.end), said(now.job.end)},
      {"lines", std::to_string(before.job.lines), std::to_string(now.job.lines)},
      {"nodes", std::to_string(before.job.nodes), std::to_string(now.job.nodes)},
      {"ranks", std::to_string(before.job.ranks), std::to_string(now.job.ranks)}};
  std::erase_if(facts, [](const Fact& fact) { return fact.before == fact.now; });
  return facts;
}

using Items = std::map<std::string, Item>;

ListDiff compare(std::string_view what, const Items& before, const Items& now) {
  ListDiff diff{what, {}, {}, {}};
  for (const auto& [key, item] : now) {
    const auto known = before.find(key);
    if (known == before.end())
      diff.fresh.push_back({key, item.text, {}, item.value});
    else if (known->second.value != item.value)
      diff.changed.push_back({key, item.text, known->second.value, item.value});
  }
  for (const auto& [key, item] : before)
    if (!now.contains(key)) diff.gone.push_back({key, item.text, item.value, {}});
  return diff;
}

Items nodes_of(const Report& report) {
  Items items;
  for (std::size_t i = 0; i < report.nodes.size(); ++i)
    items[report.nodes[i].node] = {report.nodes[i].node, i == 0 ? "first" : "further"};
  return items;
}

Items ranks_of(const Report& report) {
  Items items;
  for (const diagnose::SuspectRank& rank : report.ranks)
    if (rank.rank) {
      const std::string text = fmt::format("rank {}", rank.rank->value());
      items[text] = {text, std::string(name(rank.process))};
    }
  return items;
}

Items events_of(const Report& report) {
  Items items;
  for (const diagnose::IndicatingEvent& event : report.events)
    items[to_string(event.id)] = {event.text,
                                  fmt::format("{}, {} times", name(event.role), event.count)};
  return items;
}

Items faults_of(const Report& report) {
  Items items;
  for (const diagnose::KnownFault& fault : report.faults) items[fault.id] = {fault.title, {}};
  return items;
}

Items notable_of(const Report& report) {
  Items items;
  for (const diagnose::Notable& notable : report.notable)
    items[fmt::format("{} {} {}", notable.kind, notable.node.value_or("-"),
                      notable.rank ? notable.rank->value() : -1)] = {notable.text, {}};
  return items;
}

std::vector<ListDiff> lists_of(const Report& before, const Report& now) {
  return {compare("nodes", nodes_of(before), nodes_of(now)),
          compare("ranks", ranks_of(before), ranks_of(now)),
          compare("events", events_of(before), events_of(now)),
          compare("faults", faults_of(before), faults_of(now)),
          compare("notable", notable_of(before), notable_of(now))};
}

std::string or_none(const std::string& text) {
  return text.empty() ? "none" : text;
}

void render_rows(Page& page, const std::vector<Change>& rows, std::string_view sign, Tone tone,
                 std::size_t top) {
  for (std::size_t i = 0; i < std::min(rows.size(), top); ++i) {
    const Change& row = rows[i];
    std::vector<Span> spans{{std::string(sign), tone}, {" "}};
    if (sign == "~")
      spans.push_back({fmt::format("{} → {}  ", or_none(row.before), or_none(row.now)), Tone::dim});
    spans.push_back({row.text});
    page.row(spans);
  }
  if (rows.size() > top)
    page.row({{fmt::format("{} {} more", sign, rows.size() - top), Tone::dim}});
}

void write_list(JsonWriter& json, std::string_view key, const std::vector<Change>& rows,
                bool values) {
  json.key(key).open('[');
  for (const Change& row : rows) {
    json.open('{').member("id", row.key).member("text", row.text);
    if (values) json.member("before", row.before).member("now", row.now);
    json.close('}');
  }
  json.close(']');
}

}  // namespace

std::string diff_text(const Report& before, const Report& now, const TextStyle& style) {
  Page page(style);
  page.title({{fmt::format("{} → {}", headline(before.verdict.state), headline(now.verdict.state)),
               Tone::strong},
              {" · " + now.job.id}});
  const auto facts = facts_of(before, now);
  const auto lists = lists_of(before, now);
  page.gap();
  for (const Fact& fact : facts) {
    page.label(fact.what);
    page.row(fmt::format("{} → {}", or_none(fact.before), or_none(fact.now)));
  }
  bool any = !facts.empty();
  for (const ListDiff& list : lists) {
    if (list.fresh.empty() && list.gone.empty() && list.changed.empty()) continue;
    any = true;
    page.gap();
    page.label(list.what);
    render_rows(page, list.fresh, "+", Tone::bad, style.top);
    render_rows(page, list.gone, "-", Tone::good, style.top);
    render_rows(page, list.changed, "~", Tone::uneasy, style.top);
  }
  if (!any) page.row("nothing has changed");
  return page.release();
}

std::string diff_json(const Report& before, const Report& now) {
  JsonWriter json;
  json.open('{').member("schema", "l4.report_diff/1").key("verdict").open('{');
  for (const Fact& fact : facts_of(before, now)) {
    json.key(fact.what).open('{').member("before", fact.before);
    json.member("now", fact.now).close('}');
  }
  json.close('}');
  for (const ListDiff& list : lists_of(before, now)) {
    json.key(list.what).open('{');
    write_list(json, "new", list.fresh, false);
    write_list(json, "gone", list.gone, false);
    write_list(json, "changed", list.changed, true);
    json.close('}');
  }
  return json.close('}').release() + '\n';
}

}  // namespace l4::serve
