#include "aggregator/pool/shelf.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

namespace l4::pool {
namespace {

constexpr std::size_t kSkeletonsMax = 8;

bool distinguishes(Level level) {
  return level < Level::warning;
}

Mark mark_of(TemplateId id, const std::string& text) {
  return {id, std::hash<std::string>{}(text)};
}

wire::TemplateDefinition definition(std::size_t number, const std::string& text, Level level,
                                    const std::vector<TemplateId>& ids) {
  wire::TemplateDefinition made;
  made.id = LocalTemplateId{static_cast<std::uint32_t>(number)};
  made.text = text;
  made.level = level;
  for (const TemplateId id : ids)
    if (made.skeletons.size() < kSkeletonsMax) made.skeletons.emplace_back(id.value());
  // If a template has several skeletons, the table treats `<*>` as a place of other words, too. The
  // absorbed skeletons are not kept; an unused second one takes their place.
  if (made.skeletons.size() == 1 && text.find("<*>") != text.npos)
    made.skeletons.emplace_back(made.skeletons[0].value() ^ 0x9e3779b97f4a7c15U);
  std::ranges::sort(made.skeletons);
  return made;
}

/// Unifies the events of all runs of the kind.
void unify(Kind& kind) {
  job::TemplateTable table;
  for (std::uint32_t run = 0; run < kind.runs.size(); ++run)
    for (std::size_t i = 0; i < kind.runs[run]->events.size(); ++i) {
      const Event& event = kind.runs[run]->events[i];
      table.define(run, definition(i, event.text, event.level, {event.id}));
    }
  std::map<TemplateId, NormalEvent> all;
  for (std::uint32_t run = 0; run < kind.runs.size(); ++run) {
    std::unordered_map<TemplateId, diagnose::PoolEvent> here;
    for (std::size_t i = 0; i < kind.runs[run]->events.size(); ++i) {
      const Event& event = kind.runs[run]->events[i];
      const TemplateId id = table.resolve(run, LocalTemplateId{static_cast<std::uint32_t>(i)});
      here[id].node_count_max += event.node_count_max;
      here[id].node_rate_max += event.node_rate_max;
      NormalEvent& known = all[id];
      if (std::ranges::find(known.ids, event.id) == known.ids.end()) known.ids.push_back(event.id);
      known.level = std::max(known.level, event.level);
    }
    for (const auto& [id, use] : here) {
      diagnose::PoolEvent& known = all[id].use;
      ++known.runs;
      known.node_count_max = std::max(known.node_count_max, use.node_count_max);
      known.node_rate_max = std::max(known.node_rate_max, use.node_rate_max);
    }
  }
  for (auto& [id, event] : all) {
    event.text = table.text(id);
    kind.events.push_back(std::move(event));
  }
}

void add_pauses(Kind& kind, const Run& run) {
  for (const Pause& pause : run.pauses) {
    const auto known = std::ranges::find_if(kind.pauses, [&](const Pause& one) {
      return one.stage == pause.stage && one.startup == pause.startup;
    });
    if (known == kind.pauses.end())
      kind.pauses.push_back(pause);
    else
      known->longest = std::max(known->longest, pause.longest);
  }
}

}  // namespace

std::vector<Mark> marks_of(const std::vector<Event>& events) {
  std::vector<Mark> marks;
  for (const Event& event : events)
    if (distinguishes(event.level)) marks.push_back(mark_of(event.id, event.text));
  return marks;
}

namespace {

std::shared_ptr<const Kind> make_kind(const std::string& id,
                                      std::vector<std::shared_ptr<const Run>> runs) {
  auto kind = std::make_shared<Kind>();
  kind->id = id;
  kind->runs = std::move(runs);
  for (const auto& run : kind->runs) {
    add_pauses(*kind, *run);
    kind->slowed = std::max(kind->slowed, run->slowed);
    kind->marks = std::max(kind->marks, marks_of(run->events).size());
    for (const Event& event : run->events) {
      const Mark mark = mark_of(event.id, event.text);
      kind->ids.insert(mark.id);
      kind->texts.insert(mark.text);
    }
  }
  unify(*kind);
  return kind;
}

}  // namespace

std::vector<Mark> marks_of(job::TemplateTable& templates) {
  std::vector<Mark> marks;
  for (const TemplateId id : templates.all())
    if (distinguishes(templates.level(id))) marks.push_back(mark_of(id, templates.text(id)));
  return marks;
}

Shelf::Shelf(const std::vector<std::shared_ptr<const Run>>& runs, const Shelf* before) {
  std::map<std::string, std::vector<std::shared_ptr<const Run>>> kinds;
  for (const auto& run : runs) kinds[run->kind].push_back(run);
  std::map<std::string_view, std::shared_ptr<const Kind>> known;
  if (before != nullptr)
    for (const auto& kind : before->kinds_) known[kind->id] = kind;
  for (auto& [id, of_kind] : kinds) {
    const auto same = known.find(id);
    if (same != known.end() && same->second->runs == of_kind)
      kinds_.push_back(same->second);
    else
      kinds_.push_back(make_kind(id, std::move(of_kind)));
  }
}

double likeness(const std::vector<Mark>& marks, const Kind& kind) {
  const auto shared = static_cast<std::size_t>(
      std::ranges::count_if(marks, [&](const Mark& mark) { return kind.knows(mark); }));
  const std::size_t smaller = std::min(marks.size(), kind.marks);
  if (shared < kMarksMin || smaller == 0) return 0;
  return std::min(1.0, static_cast<double>(shared) / static_cast<double>(smaller));
}

const Kind* Shelf::kind_of(const std::vector<Mark>& marks) const {
  const Kind* best = nullptr;
  double most = 0;
  for (const auto& kind : kinds_) {
    const double alike = likeness(marks, *kind);
    if (alike < kAlikeMin) continue;
    if (best != nullptr && alike <= most) continue;
    best = kind.get();
    most = alike;
  }
  return best;
}

diagnose::Pool normal_of(const Kind& kind, job::TemplateTable& templates) {
  job::TemplateTable table;
  for (std::size_t i = 0; i < kind.events.size(); ++i) {
    const NormalEvent& event = kind.events[i];
    table.define(0, definition(i, event.text, event.level, event.ids));
  }
  const std::vector<TemplateId> own = templates.all();
  for (std::size_t i = 0; i < own.size(); ++i)
    table.define(1, definition(i, templates.text(own[i]), templates.level(own[i]), {own[i]}));
  std::unordered_map<TemplateId, diagnose::PoolEvent> normal;
  for (std::size_t i = 0; i < kind.events.size(); ++i) {
    const TemplateId id = table.resolve(0, LocalTemplateId{static_cast<std::uint32_t>(i)});
    const diagnose::PoolEvent& use = kind.events[i].use;
    diagnose::PoolEvent& known = normal[id];
    known.runs = std::max(known.runs, use.runs);
    known.node_count_max += use.node_count_max;
    known.node_rate_max += use.node_rate_max;
  }
  diagnose::Pool pool;
  pool.runs = static_cast<std::uint32_t>(kind.runs.size());
  pool.slowed = kind.slowed;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto known =
        normal.find(table.resolve(1, LocalTemplateId{static_cast<std::uint32_t>(i)}));
    if (known != normal.end()) pool.events.emplace(own[i], known->second);
  }
  return pool;
}

}  // namespace l4::pool
