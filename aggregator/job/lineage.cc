#include "aggregator/job/lineage.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "common/base/check.h"
#include "common/saved/archive.h"
#include "common/wire/limits.h"

namespace l4::job {
namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

std::string key_of(const wire::SourceDefinition& source) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", source.path, source.node,
                     source.rank ? source.rank->value() : -1, static_cast<int>(source.kind),
                     source.attempt, source.run);
}

}  // namespace

void Lineage::begin(AgentNames& agent, std::uint64_t incarnation) {
  agent.first = agent.incarnation == 0;
  agent.incarnation = incarnation;
  agent.templates.clear();
  agent.sources.clear();
  agent.timers.clear();
  for (auto& [id, known] : agent.known) known.used = false;
  for (auto& [file, runs] : agent.runs) runs.named = false;
}

LocalTemplateId Lineage::resolve(AgentNames& agent, LocalTemplateId id) {
  if (agent.first) return id;
  const auto [at, fresh] = agent.templates.try_emplace(id.value(), 0);
  if (fresh) at->second = agent.templates_next++;
  return LocalTemplateId{at->second};
}

/// Templates that share a skeleton are the same, as for job::TemplateTable.
std::optional<std::uint32_t> Lineage::find(const AgentNames& agent,
                                           const wire::TemplateDefinition& definition) {
  for (const Skeleton skeleton : definition.skeletons) {
    const auto same = agent.by_skeleton.find(skeleton);
    if (same == agent.by_skeleton.end()) continue;
    const auto known = agent.known.find(same->second);
    L4_CHECK(known != agent.known.end(), "skeleton {} is of template {}, which is not known",
             skeleton, same->second);
    if (!known->second.used) return same->second;
  }
  return std::nullopt;
}

bool Lineage::define(AgentNames& agent, wire::TemplateDefinition& definition) {
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

void Lineage::define(AgentNames& agent, wire::SourceDefinition& source) {
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

void Lineage::define(AgentNames& agent, wire::TimerName& timer) {
  const std::string key =
      fmt::format("{}{} {}", static_cast<int>(timer.kind), timer.learned ? "l" : "", timer.name);
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

SourceId Lineage::resolve(const AgentNames& agent, SourceId id) {
  const auto source = agent.sources.find(id.value());
  return SourceId{source == agent.sources.end() ? kNobody : source->second};
}

void Lineage::rename(AgentNames& agent, wire::Segment& segment) {
  segment.source = resolve(agent, segment.source);
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

void Lineage::forget(AgentNames& agent, std::vector<LocalTemplateId>& ids) {
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
  AgentNames& agent = agents_[batch.agent];
  if (agent.incarnation != batch.incarnation) begin(agent, batch.incarnation);
  for (wire::TimerName& timer : batch.timers) define(agent, timer);
  for (wire::SourceDefinition& source : batch.sources) define(agent, source);
  std::erase_if(batch.templates,
                [&](wire::TemplateDefinition& definition) { return !define(agent, definition); });
  if (!agent.first) {
    for (wire::SourceDefinition& source : batch.sources)
      if (source.marker) source.marker->id = resolve(agent, source.marker->id);
    for (wire::Segment& segment : batch.segments) rename(agent, segment);
    for (wire::FigureWindow& window : batch.figures) window.source = resolve(agent, window.source);
  }
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

// Unordered maps are stored in the order of their keys, so that equal states give equal bytes.
template <class Archive, class State>
void Lineage::persist_agent(Archive& archive, State& agent) {
  const auto value = [&](auto& one) { archive(one); };
  archive.word(agent.incarnation);
  archive(agent.first, agent.templates_next, agent.sources_next, agent.timers_next);
  archive.sorted_map(agent.known, 5, value, [&](auto& known, std::uint32_t id) {
    archive.list(known.skeletons, 8, [&](auto& skeleton) { archive.word(skeleton); });
    archive(known.generation, known.base, known.used);
    if constexpr (Archive::kLoads) {
      for (const Skeleton skeleton : known.skeletons) agent.by_skeleton[skeleton] = id;
    }
  });
  archive.sorted_map(agent.templates, 2, value, value);
  archive.sorted_map(agent.sources, 2, value, value);
  archive.sorted_map(agent.timers, 2, value, value);
  archive.map(agent.runs, 4, value,
              [&](auto& runs) { archive(runs.newest, runs.base, runs.named); });
  archive.map(agent.by_source, 2, value, value);
  archive.map(agent.by_timer, 2, value, value);
}

template <class Archive, class Self>
void Lineage::persist(Archive& archive, Self& self) {
  archive.map(
      self.agents_, 16, [&](auto& name) { archive(name); },
      [&](auto& agent) { persist_agent(archive, agent); });
}

void Lineage::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void Lineage::load(ByteReader& in) {
  saved::Reader archive(in);
  persist(archive, *this);
}

}  // namespace l4::job
