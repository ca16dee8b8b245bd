// Keeps the ids of sources, templates and timers across restarts of an agent.
//
// Flow: a live batch comes through here before JobState::apply. Local ids hold for one incarnation
// of an agent; JobState knows agents by name alone. A source of a new incarnation is recognised by
// path, rank and run, a template by a skeleton, a timer by its name; it keeps the id that it had,
// or gets one that was never used. So counts continue and ids are never mixed up. An agent that was
// started again continues the newest run of a file and calls it 0. A definition that adds nothing
// to what is known is dropped. The first incarnation keeps its ids. Memory: some 150 bytes a
// template that an agent remembers. One thread; saved and loaded beside the job.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/byte_stream.h"
#include "common/wire/batch.h"

namespace l4::job {

class Lineage {
 public:
  /// Rewrites the ids of a batch. A segment of an undefined source gets an unused id, so that
  /// JobState refuses it.
  void translate(wire::Batch& batch);
  /// The id that the agent's present incarnation uses for a template; empty if the incarnation has
  /// not defined it.
  std::optional<LocalTemplateId> called(const std::string& agent, LocalTemplateId id) const;
  /// True before the first batch, and for jobs that are read offline.
  bool empty() const { return agents_.empty(); }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  /// A template, by its id in JobState.
  struct Known {
    std::vector<Skeleton> skeletons;  ///< the 8 smallest, ascending
    std::uint32_t generation = 0;     ///< as the job last got it
    std::uint32_t base = 0;           ///< the generation that the present incarnation calls 0
    bool used = false;                ///< used by this incarnation
  };
  /// Runs of a file.
  struct Runs {
    std::uint32_t newest = 0;
    std::uint32_t base = 0;  ///< the run that the present incarnation calls 0
    bool named = false;      ///< named by this incarnation
  };
  struct AgentNames {
    std::uint64_t incarnation = 0;
    bool first = true;  ///< ids are the agent's own
    std::uint32_t templates_next = 0, sources_next = 0, timers_next = 0;
    std::unordered_map<std::uint32_t, Known> known;
    std::unordered_map<Skeleton, std::uint32_t> by_skeleton;
    std::unordered_map<std::uint32_t, std::uint32_t> templates;  ///< this incarnation's -> job's
    std::map<std::string, Runs> runs;
    std::map<std::string, std::uint32_t> by_source;
    std::unordered_map<std::uint32_t, std::uint32_t> sources;
    std::map<std::string, std::uint16_t> by_timer;
    std::unordered_map<std::uint16_t, std::uint16_t> timers;
  };
  static void begin(AgentNames& agent, std::uint64_t incarnation);
  static std::optional<std::uint32_t> find(const AgentNames& agent,
                                           const wire::TemplateDefinition& definition);
  /// False if the definition adds nothing to what is known.
  static bool define(AgentNames& agent, wire::TemplateDefinition& definition);
  static void define(AgentNames& agent, wire::SourceDefinition& source);
  static void define(AgentNames& agent, wire::TimerName& timer);
  static LocalTemplateId resolve(AgentNames& agent, LocalTemplateId id);
  static SourceId resolve(const AgentNames& agent, SourceId id);
  static void rename(AgentNames& agent, wire::Segment& segment);
  static void forget(AgentNames& agent, std::vector<LocalTemplateId>& ids);
  template <class Archive, class State>
  static void persist_agent(Archive& archive, State& agent);
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);

  std::map<std::string, AgentNames> agents_;
};

}  // namespace l4::job
