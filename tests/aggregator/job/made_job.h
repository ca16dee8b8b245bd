// A job told by hand: what its ranks say, as the batches that agents would have sent.
//
// One agent per node, one source per rank, one segment per call. Rank r stands on node-(r / ranks
// per node). Times are milliseconds from `kBegin`. For tests of everything above wire::Batch.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "aggregator/job/job_state.h"
#include "aggregator/job/view.h"
#include "common/drain/template_miner.h"

namespace l4::job::test {

inline const TimeMs kBegin = from_civil(2024, 3, 5, 10, 0, 0, 0);
inline TimeMs after(std::int64_t ms) {
  return kBegin + Millis{ms};
}

struct Say {
  std::string text;
  Level level = Level::info;
  std::uint8_t marks = 0;
};

class MadeJob {
 public:
  explicit MadeJob(int nodes, int ranks_per_node = 1) : ranks_per_node_(ranks_per_node) {
    for (int node = 0; node < nodes; ++node) {
      Agent agent;
      agent.batch.agent = "node-" + std::to_string(node);
      for (int timer = 0; timer < 3; ++timer)
        agent.batch.timers.push_back({static_cast<std::uint16_t>(timer), kTimers[timer],
                                      static_cast<wire::TimerKind>(timer)});
      agents_.push_back(std::move(agent));
    }
    for (int rank = 0; rank < nodes * ranks_per_node; ++rank) {
      wire::SourceDefinition& source = add_source(rank / ranks_per_node);
      source.kind = wire::SourceKind::rank;
      source.rank = Rank{rank};
      source.rank_source = RankSource::env;
      source.path = source.node + "/rank" + std::to_string(rank) + ".log";
      places_[rank] = {static_cast<std::size_t>(rank / ranks_per_node), source.id};
    }
  }

  /// Timers 0, 1, 2: the rank's own work, waiting, both.
  static constexpr const char* kTimers[] = {"forward", "allreduce", "backward"};

  int ranks() const { return static_cast<int>(places_.size()); }
  std::vector<wire::SourceDefinition>& sources(int node) {
    return agents_[static_cast<std::size_t>(node)].batch.sources;
  }
  wire::SourceDefinition& source_of(int rank) {
    const Place& place = places_.at(rank);
    return agents_[place.agent].batch.sources[place.source.value()];
  }
  /// A further source of a node: a launcher's, or a second file of a rank.
  wire::SourceDefinition& add_source(int node) {
    auto& sources = agents_[static_cast<std::size_t>(node)].batch.sources;
    wire::SourceDefinition source;
    source.id = SourceId{static_cast<std::uint32_t>(sources.size())};
    source.node = "node-" + std::to_string(node);
    source.path = source.node + "/agent.log";
    source.kind = wire::SourceKind::launcher;
    sources.push_back(std::move(source));
    return sources.back();
  }

  /// One line of a rank in a segment of its own.
  wire::Segment& say(int rank, const Say& say, std::optional<std::int64_t> ms = std::nullopt) {
    const Place& place = places_.at(rank);
    return say_on(static_cast<int>(place.agent), place.source, say, ms);
  }
  wire::Segment& say_on(int node, SourceId source, const Say& say,
                        std::optional<std::int64_t> ms = std::nullopt) {
    Agent& agent = agents_[static_cast<std::size_t>(node)];
    const std::uint64_t line = ++agent.lines[source.value()];
    wire::Segment segment;
    segment.source = source;
    segment.stage = Stage::training;
    segment.lines = {line, line};
    segment.bytes = {line * 100 - 100, line * 100};
    const LocalTemplateId id = define(agent, say);
    segment.events = {{id, 1, line, std::nullopt}};
    segment.order = {{id, 1}};
    if (ms) {
      segment.begin = segment.end = segment.events[0].first_time = after(*ms);
      segment.timed_last_line = line;
    }
    agent.batch.segments.push_back(std::move(segment));
    return agent.batch.segments.back();
  }

  /// A rank completes iteration k.
  wire::Segment& iterate(int rank, std::int64_t k, std::optional<std::int64_t> ms,
                         double forward_ms = 0) {
    wire::Segment& segment =
        say(rank, {"step done loss <*>", Level::info, wire::kMarkIteration}, ms);
    segment.iteration = Iteration{k};
    segment.boundary = wire::Boundary::completed;
    if (forward_ms > 0) segment.timers = {{0, 1, forward_ms, forward_ms}};
    return segment;
  }
  /// Every rank completes iterations first..last, `pace` apart; k ends at k * pace.
  void iterate_all(std::int64_t first, std::int64_t last, std::int64_t pace = 1000) {
    for (std::int64_t k = first; k <= last; ++k)
      for (int rank = 0; rank < ranks(); ++rank) iterate(rank, k, k * pace);
  }

  /// One batch per agent, in the order of the nodes.
  std::vector<wire::Batch> batches() const {
    std::vector<wire::Batch> all;
    for (const Agent& agent : agents_) all.push_back(agent.batch);
    return all;
  }
  /// The state after all batches; the job keeps it.
  const JobState& state() {
    templates_ = std::make_unique<TemplateTable>();
    state_ = std::make_unique<JobState>("made", 0, *templates_);
    for (const wire::Batch& batch : batches()) {
      const auto applied = state_->apply(batch);
      if (!applied) throw std::runtime_error(applied.error().text());
    }
    return *state_;
  }
  JobView view(std::int32_t attempt = 0, bool trust_mtimes = false) {
    return make_view(state(), attempt, trust_mtimes);
  }

 private:
  struct Agent {
    wire::Batch batch;
    std::map<std::string, LocalTemplateId> known;
    std::map<std::uint32_t, std::uint64_t> lines;  // by source
  };
  struct Place {
    std::size_t agent = 0;
    SourceId source;
  };

  static LocalTemplateId define(Agent& agent, const Say& say) {
    const auto next = LocalTemplateId{static_cast<std::uint32_t>(agent.known.size())};
    const auto [found, created] = agent.known.try_emplace(say.text, next);
    if (created) {
      wire::TemplateDefinition definition;
      definition.id = next;
      definition.text = say.text;
      definition.level = say.level;
      definition.marks = say.marks;
      definition.skeletons = {drain::skeleton_of(say.text)};
      agent.batch.templates.push_back(std::move(definition));
    }
    return found->second;
  }

  int ranks_per_node_;
  std::vector<Agent> agents_;
  std::map<int, Place> places_;
  std::unique_ptr<TemplateTable> templates_;
  std::unique_ptr<JobState> state_;
};

/// Place of the event whose text holds `part`; the number of events if there is none.
inline std::uint32_t event_of(const JobView& view, const std::string& part) {
  std::uint32_t i = 0;
  while (i < view.events.size() && view.events[i].text.find(part) == std::string::npos) ++i;
  return i;
}

}  // namespace l4::job::test
