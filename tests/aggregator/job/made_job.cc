#include "tests/aggregator/job/made_job.h"

#include <stdexcept>

#include "common/drain/template_miner.h"

namespace l4::job::test {

MadeJob::MadeJob(int nodes, int ranks_per_node) {
  for (int node = 0; node < nodes; ++node) {
    Agent agent;
    agent.batch.agent = "node-" + std::to_string(node);
    for (int timer = 0; timer < 3; ++timer)
      agent.batch.timers.push_back(
          {static_cast<std::uint16_t>(timer), kTimers[timer], static_cast<wire::TimerKind>(timer)});
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

void MadeJob::learn_timer(std::uint16_t timer, const std::string& name) {
  for (Agent& agent : agents_)
    agent.batch.timers.push_back({timer, name, wire::TimerKind::mixed, true});
}

void MadeJob::name_timer(std::uint16_t timer, const std::string& name) {
  for (Agent& agent : agents_) agent.batch.timers.push_back({timer, name, wire::TimerKind::mixed});
}

wire::SourceDefinition& MadeJob::source_of(int rank) {
  const Place& place = places_.at(rank);
  return agents_[place.agent].batch.sources[place.source.value()];
}

wire::SourceDefinition& MadeJob::add_source(int node) {
  auto& sources = agents_[static_cast<std::size_t>(node)].batch.sources;
  wire::SourceDefinition source;
  source.id = SourceId{static_cast<std::uint32_t>(sources.size())};
  source.node = "node-" + std::to_string(node);
  source.path = source.node + "/agent.log";
  source.kind = wire::SourceKind::launcher;
  sources.push_back(std::move(source));
  return sources.back();
}

wire::Segment& MadeJob::say(int rank, const Say& said, std::optional<std::int64_t> ms) {
  const Place& place = places_.at(rank);
  return say_on(static_cast<int>(place.agent), place.source, said, ms);
}

wire::Segment& MadeJob::say_on(int node, SourceId source, const Say& said,
                               std::optional<std::int64_t> ms) {
  Agent& agent = agents_[static_cast<std::size_t>(node)];
  const std::uint64_t line = ++agent.lines[source.value()];
  wire::Segment segment;
  segment.source = source;
  segment.stage = Stage::training;
  segment.lines = {line, line};
  segment.bytes = {line * 100 - 100, line * 100};
  const LocalTemplateId id = define(agent, said);
  segment.events = {{id, 1, line, std::nullopt}};
  segment.order = {{id, 1}};
  if (ms) {
    segment.begin = segment.end = segment.events[0].first_time = after(*ms);
    segment.timed_last_line = line;
  }
  agent.batch.segments.push_back(std::move(segment));
  return agent.batch.segments.back();
}

wire::Segment& MadeJob::iterate(int rank, std::int64_t k, std::optional<std::int64_t> ms,
                                double forward_ms) {
  wire::Segment& segment = say(rank, {"step done loss <*>", Level::info, wire::kMarkIteration}, ms);
  segment.iteration = Iteration{k};
  segment.boundary = wire::Boundary::completed;
  if (forward_ms > 0) segment.timers = {{0, 1, forward_ms, forward_ms}};
  return segment;
}

void MadeJob::iterate_all(std::int64_t first, std::int64_t last, std::int64_t pace) {
  for (std::int64_t k = first; k <= last; ++k)
    for (int rank = 0; rank < ranks(); ++rank) iterate(rank, k, k * pace);
}

std::vector<wire::Batch> MadeJob::batches() const {
  std::vector<wire::Batch> all;
  for (const Agent& agent : agents_) all.push_back(agent.batch);
  return all;
}

const JobState& MadeJob::state() {
  templates_ = std::make_unique<TemplateTable>();
  state_ = std::make_unique<JobState>("made", 0, *templates_);
  for (const wire::Batch& batch : batches()) {
    const auto applied = state_->apply(batch);
    if (!applied) throw std::runtime_error(applied.error().text());
  }
  return *state_;
}

JobView MadeJob::view(std::int32_t attempt, bool trust_mtimes) {
  return make_view(state(), attempt, trust_mtimes);
}

LocalTemplateId MadeJob::define(Agent& agent, const Say& said) {
  const auto next = LocalTemplateId{static_cast<std::uint32_t>(agent.known.size())};
  const auto [found, created] = agent.known.try_emplace(said.text, next);
  if (created) {
    wire::TemplateDefinition definition;
    definition.id = next;
    definition.text = said.text;
    definition.level = said.level;
    definition.marks = said.marks;
    definition.skeletons = {drain::skeleton_of(said.text)};
    agent.batch.templates.push_back(std::move(definition));
  }
  return found->second;
}

std::uint32_t event_of(const JobView& view, const std::string& part) {
  std::uint32_t i = 0;
  while (i < view.events.size() && view.events[i].text.find(part) == std::string::npos) ++i;
  return i;
}

}  // namespace l4::job::test
