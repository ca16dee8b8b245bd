#include "aggregator/job/lineage.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "common/wire/codec.h"

namespace l4::job {
namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

std::string key_of(const wire::SourceDefinition& source) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", source.path, source.node,
                     source.rank ? source.rank->value() : -1, static_cast<int>(source.kind),
                     source.attempt, source.run);
}

}  // namespace

void Lineage::begin(Agent& agent, std::uint64_t incarnation) {
  agent.first = agent.incarnation == 0;
  agent.incarnation = incarnation;
  agent.templates.clear();
  agent.sources.clear();
  agent.timers.clear();
  for (auto& [id, known] : agent.known) known.used = false;
  for (auto& [file, runs] : agent.runs) runs.named = false;
}

LocalTemplateId Lineage::resolve(Agent& agent, LocalTemplateId id) {
  if (agent.first) return id;
  const auto [at, fresh] = agent.templates.try_emplace(id.value(), 0);
  if (fresh) at->second = agent.templates_next++;
  return LocalTemplateId{at->second};
}

/// A template that shares a skeleton is the same one, as job::TemplateTable sees it.
std::optional<std::uint32_t> Lineage::find(const Agent& agent,
                                           const wire::TemplateDefinition& definition) {
  for (const Skeleton skeleton : definition.skeletons) {
    const auto same = agent.by_skeleton.find(skeleton);
    if (same != agent.by_skeleton.end() && !agent.known.at(same->second).used) return same->second;
  }
  return std::nullopt;
}

bool Lineage::define(Agent& agent, wire::TemplateDefinition& definition) {
  const std::uint32_t local = definition.id.value();
  bool taken_over = false;
  if (agent.first) {
    agent.templates_next = std::max(agent.templates_next, local + 1);
  } else {
    if (!agent.templates.contains(local))
      if (const auto same = find(agent, definition)) {
        agent.templates[local] = *same;
        Known& known = agent.known.at(*same);
        known.base = known.generation + 1;
        taken_over = true;
      }
    definition.id = resolve(agent, definition.id);
    if (definition.alias_of) definition.alias_of = resolve(agent, *definition.alias_of);
  }
  Known& known = agent.known[definition.id.value()];
  known.used = true;
  definition.generation += known.base;
  if (taken_over && !definition.alias_of &&
      std::ranges::includes(known.skeletons, definition.skeletons))
    return false;
  known.generation = std::max(known.generation, definition.generation);
  std::vector<Skeleton> all;
  std::ranges::set_union(known.skeletons, definition.skeletons, std::back_inserter(all));
  all.resize(std::min<std::size_t>(all.size(), wire::kSkeletonsMax));
  for (const Skeleton skeleton : all) agent.by_skeleton[skeleton] = definition.id.value();
  for (const Skeleton skeleton : known.skeletons)
    if (!std::ranges::binary_search(all, skeleton)) agent.by_skeleton.erase(skeleton);
  if (!agent.first) definition.skeletons = all;
  known.skeletons = std::move(all);
  return true;
}

void Lineage::define(Agent& agent, wire::SourceDefinition& source) {
  Runs& runs = agent.runs[fmt::format("{}\n{}", source.path, source.attempt)];
  if (!std::exchange(runs.named, true)) runs.base = runs.newest;
  source.run += runs.base;
  runs.newest = std::max(runs.newest, source.run);
  const std::uint32_t local = source.id.value();
  if (agent.first) {
    agent.sources_next = std::max(agent.sources_next, local + 1);
  } else {
    const auto [at, fresh] = agent.sources.try_emplace(local, 0);
    if (fresh) {
      const auto same = agent.by_source.find(key_of(source));
      at->second = same != agent.by_source.end() ? same->second : agent.sources_next++;
    }
    source.id = SourceId{at->second};
  }
  agent.by_source[key_of(source)] = source.id.value();
}

void Lineage::define(Agent& agent, wire::TimerName& timer) {
  const std::string key = fmt::format("{} {}", static_cast<int>(timer.kind), timer.name);
  if (agent.first) {
    agent.timers_next = std::max<std::uint32_t>(agent.timers_next, timer.timer + 1u);
  } else {
    const auto same = agent.by_timer.find(key);
    std::uint16_t id = 0;
    if (same != agent.by_timer.end())
      id = same->second;
    else if (agent.timers_next <= std::numeric_limits<std::uint16_t>::max())
      id = static_cast<std::uint16_t>(agent.timers_next++);
    agent.timers[timer.timer] = id;
    timer.timer = id;
  }
  agent.by_timer[key] = timer.timer;
}

void Lineage::rename(Agent& agent, wire::Segment& segment) {
  const auto source = agent.sources.find(segment.source.value());
  segment.source = SourceId{source == agent.sources.end() ? kNobody : source->second};
  for (wire::EventCount& event : segment.events) event.id = resolve(agent, event.id);
  for (wire::Run& run : segment.order) run.id = resolve(agent, run.id);
  for (wire::ParameterTuple& tuple : segment.parameters) tuple.id = resolve(agent, tuple.id);
  std::erase_if(segment.timers, [&](wire::TimerTotal& total) {
    const auto timer = agent.timers.find(total.timer);
    if (timer == agent.timers.end()) return true;
    total.timer = timer->second;
    return false;
  });
}

void Lineage::forget(Agent& agent, std::vector<LocalTemplateId>& ids) {
  for (LocalTemplateId& id : ids) {
    const std::uint32_t local = id.value();
    if (!agent.first) {
      id = resolve(agent, id);
      agent.templates.erase(local);
    }
    const auto known = agent.known.find(id.value());
    if (known == agent.known.end()) continue;
    for (const Skeleton skeleton : known->second.skeletons)
      if (const auto at = agent.by_skeleton.find(skeleton);
          at != agent.by_skeleton.end() && at->second == id.value())
        agent.by_skeleton.erase(at);
    agent.known.erase(known);
  }
}

void Lineage::translate(wire::Batch& batch) {
  Agent& agent = agents_[batch.agent];
  if (agent.incarnation != batch.incarnation) begin(agent, batch.incarnation);
  for (wire::TimerName& timer : batch.timers) define(agent, timer);
  for (wire::SourceDefinition& source : batch.sources) define(agent, source);
  std::erase_if(batch.templates,
                [&](wire::TemplateDefinition& definition) { return !define(agent, definition); });
  if (!agent.first)
    for (wire::Segment& segment : batch.segments) rename(agent, segment);
  forget(agent, batch.forgotten);
}

std::optional<LocalTemplateId> Lineage::called(const std::string& name, LocalTemplateId id) const {
  const auto agent = agents_.find(name);
  if (agent == agents_.end()) return std::nullopt;
  if (agent->second.first) return id;
  for (const auto& [local, stands_for] : agent->second.templates)
    if (stands_for == id.value()) return LocalTemplateId{local};
  return std::nullopt;
}

namespace {

/// Unordered maps are written in the order of their keys, so that equal states are equal bytes.
template <class Map>
std::map<typename Map::key_type, typename Map::mapped_type> sorted(const Map& map) {
  return {map.begin(), map.end()};
}

template <class Map>
void save_numbers(ByteWriter& out, const Map& map) {
  out.number(map.size());
  for (const auto& [key, value] : sorted(map)) {
    out.number(key);
    out.number(value);
  }
}

template <class Map>
void load_numbers(ByteReader& in, Map& map) {
  for (std::size_t left = in.count(2); left > 0 && in.ok(); --left) {
    const auto key = static_cast<typename Map::key_type>(in.number32());
    map[key] = static_cast<typename Map::mapped_type>(in.number32());
  }
}

template <class Map>
void save_names(ByteWriter& out, const Map& map) {
  out.number(map.size());
  for (const auto& [key, value] : map) {
    out.text(key);
    out.number(value);
  }
}

template <class Map>
void load_names(ByteReader& in, Map& map) {
  for (std::size_t left = in.count(2); left > 0 && in.ok(); --left) {
    std::string key = in.text();
    map[std::move(key)] = static_cast<typename Map::mapped_type>(in.number32());
  }
}

}  // namespace

void Lineage::save(ByteWriter& out) const {
  out.number(agents_.size());
  for (const auto& [name, agent] : agents_) {
    out.text(name);
    out.word(agent.incarnation);
    out.byte(agent.first ? 1 : 0);
    out.number(agent.templates_next);
    out.number(agent.sources_next);
    out.number(agent.timers_next);
    out.number(agent.known.size());
    for (const auto& [id, known] : sorted(agent.known)) {
      out.number(id);
      out.number(known.skeletons.size());
      for (const Skeleton skeleton : known.skeletons) out.word(skeleton.value());
      out.number(known.generation);
      out.number(known.base);
      out.byte(known.used ? 1 : 0);
    }
    save_numbers(out, agent.templates);
    save_numbers(out, agent.sources);
    save_numbers(out, agent.timers);
    out.number(agent.runs.size());
    for (const auto& [file, runs] : agent.runs) {
      out.text(file);
      out.number(runs.newest);
      out.number(runs.base);
      out.byte(runs.named ? 1 : 0);
    }
    save_names(out, agent.by_source);
    save_names(out, agent.by_timer);
  }
}

void Lineage::load(ByteReader& in) {
  agents_.clear();
  for (std::size_t all = in.count(16); all > 0 && in.ok(); --all) {
    Agent& agent = agents_[in.text()];
    agent.incarnation = in.word();
    agent.first = in.byte() != 0;
    agent.templates_next = in.number32();
    agent.sources_next = in.number32();
    agent.timers_next = in.number32();
    for (std::size_t left = in.count(5); left > 0 && in.ok(); --left) {
      const std::uint32_t id = in.number32();
      Known& known = agent.known[id];
      known.skeletons.resize(in.count(8));
      for (Skeleton& skeleton : known.skeletons) {
        skeleton = Skeleton{in.word()};
        agent.by_skeleton[skeleton] = id;
      }
      known.generation = in.number32();
      known.base = in.number32();
      known.used = in.byte() != 0;
    }
    load_numbers(in, agent.templates);
    load_numbers(in, agent.sources);
    load_numbers(in, agent.timers);
    for (std::size_t left = in.count(4); left > 0 && in.ok(); --left) {
      Runs& runs = agent.runs[in.text()];
      runs.newest = in.number32();
      runs.base = in.number32();
      runs.named = in.byte() != 0;
    }
    load_names(in, agent.by_source);
    load_names(in, agent.by_timer);
  }
}

}  // namespace l4::job
