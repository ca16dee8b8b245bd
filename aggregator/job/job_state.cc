#include "aggregator/job/job_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/saved/archive.h"

namespace l4::job {

namespace {

template <class Archive, class Coverage>
void persist_coverage(Archive& archive, Coverage& coverage) {
  archive(coverage.path, coverage.bytes.from, coverage.bytes.to, coverage.lines,
          coverage.bytes_known, coverage.bytes_lost);
  archive.word(coverage.file.key);
  archive(coverage.file.device, coverage.file.inode);
  archive.word(coverage.file.fingerprint);
  archive(coverage.file.fingerprint_bytes);
}

/// The name is the key that it is stored under.
template <class Archive, class State>
void persist_agent(Archive& archive, State& agent, const TuplePool& tuples) {
  const auto number = [&](auto& key) { archive(key); };
  archive(agent.node_index);
  archive.part(agent.sequences);
  archive.map(agent.streams, 2, number, [&](auto& stream, std::uint32_t id) {
    archive.part(stream, agent.sequences, tuples);
    if constexpr (Archive::kLoads) agent.runs[stream.source.path][stream.source.run].push_back(id);
  });
  archive.list(agent.vectors, 6, [&](auto& one) {
    archive(one.node, one.attempt, one.run, one.launcher);
    archive.part(one.by_time);
    archive.part(one.by_iteration);
  });
  archive(agent.sources_end);
  archive.map(agent.marks, 2, number, number);
  archive.list(agent.timers, 3, [&](auto& timer) {
    archive(timer.timer, timer.name, timer.learned);
    archive.enumerator(timer.kind, wire::TimerKind::mixed);
  });
  archive.map(agent.files, 9, [&](auto& key) { archive.word(key); }, number);
  archive.part(agent.processes);
  archive.part(agent.nics);
  const auto text = [&](auto& name) { archive(name); };
  archive.map(agent.readings, 9, text, [&](auto& reading, const std::string& path) {
    archive(reading.lines, reading.timed, reading.glued, reading.split, reading.format,
            reading.marker, reading.marker_why, reading.packs);
    if constexpr (Archive::kLoads) reading.path = path;
  });
}

}  // namespace

AgentSlice& JobState::agent_of(const std::string& name) {
  const auto [found, created] = agents_.try_emplace(name);
  if (created) {
    constexpr std::uint32_t kAgentsPerJobMax = 1u << 20;
    found->second.name = name;
    found->second.node_index =
        job_index_ * kAgentsPerJobMax + static_cast<std::uint32_t>(agents_.size() - 1);
  }
  return found->second;
}

std::size_t JobState::iterations_kept() const {
  const std::size_t sources = std::max<std::size_t>(sources_, 1);
  const std::size_t wanted = std::max(limits_.iterations_soft / sources, limits_.iterations_enough);
  const std::size_t most = std::min(wanted, Stream::kIterationsMax);
  return std::clamp(limits_.iterations / sources, Stream::kIterationsLeast,
                    std::max(most, Stream::kIterationsLeast));
}

std::size_t JobState::windows_kept() const {
  constexpr std::size_t kFew = 256;  // sources
  return sources_ > kFew ? FigureTable::kWindowsLeast : FigureTable::kWindowsMax;
}

/// Windows of sources that are not known any more are dropped.
void JobState::apply_figures(AgentSlice& agent, const wire::Batch& batch) const {
  for (const wire::FigureWindow& window : batch.figures)
    if (const auto stream = agent.streams.find(window.source.value());
        stream != agent.streams.end())
      stream->second.figures.add(window, windows_kept());
  for (const wire::FileReading& reading : batch.readings)
    if (agent.readings.size() < kReadingsMax || agent.readings.contains(reading.path))
      agent.readings.insert_or_assign(reading.path, reading);
}

void JobState::apply_nics(AgentSlice& agent, const wire::Batch& batch) {
  if (batch.nics.empty()) return;
  const std::size_t before = agent.nics.nics().size();
  const std::size_t share = cards::NicTable::kSecondsOfJob / std::max<std::size_t>(nics_, 1);
  agent.nics.apply(batch.nics,
                   std::clamp(share, cards::NicTable::kSecondsLeast, cards::NicTable::kSecondsMax));
  nics_ += agent.nics.nics().size() - before;
}

void JobState::note(std::vector<wire::Warning> warnings) {
  warnings_.insert(warnings_.end(), std::make_move_iterator(warnings.begin()),
                   std::make_move_iterator(warnings.end()));
}

/// A live agent reports coverage of a file a thousand times, so each file has one entry.
void JobState::cover(AgentSlice& agent, const wire::Coverage& coverage) {
  if (coverage.file.key == 0) return coverage_.push_back(coverage);
  const auto [at, created] = agent.files.try_emplace(coverage.file.key, coverage_.size());
  if (created) return coverage_.push_back(coverage);
  wire::Coverage& whole = coverage_[at->second];
  const std::uint64_t read = whole.bytes.to - whole.bytes.from;
  const std::uint64_t lines = whole.lines, lost = whole.bytes_lost;
  whole = coverage;
  // After a gap the whole range moves up to the end of the bytes that were read.
  whole.bytes.from -= std::min(read, whole.bytes.from);
  whole.lines += lines;
  whole.bytes_lost += lost;
}

/// Runs of a file follow each other: when one begins, the oldest that is kept may have to go.
void JobState::define(AgentSlice& agent, const wire::SourceDefinition& source) {
  const std::uint32_t id = source.id.value();
  agent.sources_end = std::max(agent.sources_end, id + 1);
  if (const auto known = agent.streams.find(id); known != agent.streams.end()) {
    const wire::SourceDefinition before = std::exchange(known->second.source, source);
    known->second.vectors = vectors_of(agent, source);
    if (before.path == source.path && before.run == source.run) return;
    auto& runs = agent.runs[before.path];  // the source is redefined
    if (auto& ids = runs[before.run]; std::erase(ids, id) > 0 && ids.empty())
      runs.erase(before.run);
  }
  auto& runs = agent.runs[source.path];
  const auto is_old = [&](std::uint32_t run) {
    return run < runs.rbegin()->first && runs.rbegin()->first - run >= kRunsKept;
  };
  if (!runs.empty() && is_old(source.run)) return drop(agent, {id});
  runs[source.run].push_back(id);
  sources_ += agent.streams.contains(id) ? 0 : 1;
  Stream& stream = agent.streams[id];
  stream.source = source;
  stream.vectors = vectors_of(agent, source);
  while (is_old(runs.begin()->first)) {
    drop(agent, runs.begin()->second);
    runs.erase(runs.begin());
  }
}

void JobState::drop(AgentSlice& agent, const std::vector<std::uint32_t>& sources) {
  for (const std::uint32_t id : sources) {
    const auto at = agent.streams.find(id);
    if (at == agent.streams.end()) continue;
    at->second.forget_iterations(agent.sequences);
    at->second.forget_parameters(tuples_);
    const std::uint32_t vectors = at->second.vectors;
    agent.streams.erase(at);
    --sources_;
    const bool used = std::ranges::any_of(
        agent.streams, [&](const auto& other) { return other.second.vectors == vectors; });
    if (!used) agent.vectors[vectors].by_time = agent.vectors[vectors].by_iteration = {};
  }
}

std::uint32_t JobState::vectors_of(AgentSlice& agent, const wire::SourceDefinition& source) {
  const bool launcher = source.kind != wire::SourceKind::rank && !source.rank && !source.local_rank;
  const auto same = std::ranges::find_if(agent.vectors, [&](const vectors::NodeVectors& one) {
    return one.run == source.run && one.attempt == source.attempt && one.launcher == launcher &&
           one.node == source.node;
  });
  const auto index = static_cast<std::uint32_t>(same - agent.vectors.begin());
  if (index == agent.vectors.size())
    agent.vectors.push_back({source.node, source.attempt, source.run, launcher, {}, {}});
  return index;
}

/// A segment may last longer than a window, so an event that it has once counts where it was seen,
/// the others where the segment ends. Iterations without a time are windows themselves; other lines
/// without a time belong to the last stamp before them.
void JobState::count(AgentSlice& agent, const Stream& stream, const wire::Segment& segment) {
  auto end = segment.end ? segment.end : segment.arrival_end;
  if (!end && !segment.iteration) end = stream.end;
  const bool timed = end.has_value();
  if (!timed && !segment.iteration) return;
  const std::int64_t last = timed ? vectors::window_at(*end) : segment.iteration->value();
  counted_.next_segment();
  for (const wire::EventCount& event : segment.events) {
    const bool own = timed && event.count == 1 && event.first_time;
    counted_.note({stream.vectors, timed, own ? vectors::window_at(*event.first_time) : last},
                  {event.id.value(), event.count});
  }
  if (counted_.windows() > vectors::Tally::kMany) add_counts(agent);
}

void JobState::add_counts(AgentSlice& agent) {
  counted_.drain([&](const vectors::WindowOf& of, std::span<const vectors::Cell> cells) {
    vectors::NodeVectors& node = agent.vectors[of.node];
    (of.timed ? node.by_time : node.by_iteration).add(of.window, cells);
  });
}

Result<void> JobState::apply_segments(AgentSlice& agent, const wire::Batch& batch) {
  const std::size_t kept = iterations_kept();
  for (const wire::Segment& segment : batch.segments) {
    const auto stream = agent.streams.find(segment.source.value());
    if (stream == agent.streams.end() && segment.source.value() < agent.sources_end) continue;
    if (stream == agent.streams.end())
      return std::unexpected(Error{batch.agent, fmt::format("segment of source {}, which was never "
                                                            "defined",
                                                            segment.source.value())});
    stream->second.apply(segment, agent.sequences, tuples_, kept);
    count(agent, stream->second, segment);
  }
  return {};
}

Result<void> JobState::apply(const wire::Batch& batch) {
  AgentSlice& agent = agent_of(batch.agent);
  for (const wire::TimerName& timer : batch.timers) {
    if (timer.timer >= agent.timers.size()) agent.timers.resize(timer.timer + 1u);
    agent.timers[timer.timer] = timer;
  }
  for (const wire::TemplateDefinition& definition : batch.templates) {
    templates_.define(agent.node_index, definition);
    if (definition.marks != 0) agent.marks[definition.id.value()] = definition.marks;
  }
  for (const wire::SourceDefinition& source : batch.sources) define(agent, source);
  // Sources of former attempts get no more lines; new sources use their share.
  if (!batch.sources.empty())
    for (auto& [id, stream] : agent.streams)
      stream.keep_iterations(iterations_kept(), agent.sequences);
  for (const wire::ProcessFact& fact : batch.processes)
    agent.processes.apply(fact, limits_.processes);
  apply_nics(agent, batch);
  for (const wire::Coverage& coverage : batch.coverage) cover(agent, coverage);
  warnings_.insert(warnings_.end(), batch.warnings.begin(), batch.warnings.end());
  const Result<void> known = apply_segments(agent, batch);
  add_counts(agent);
  if (!known) return known;
  apply_figures(agent, batch);
  if (agent.sequences.elements() > limits_.sequence_events)
    for (auto& [id, stream] : agent.streams) stream.forget_old_sequences(agent.sequences);
  lines_by_half_ += batch.lines_by_half;
  forget(agent, batch.forgotten);
  return {};
}

void JobState::forget(AgentSlice& agent, const std::vector<LocalTemplateId>& ids) {
  if (ids.empty()) return;
  forgotten_ += ids.size();
  std::vector<std::uint32_t> locals;
  locals.reserve(ids.size());
  for (const LocalTemplateId id : ids) locals.push_back(id.value());
  std::ranges::sort(locals);
  for (auto& [id, stream] : agent.streams) stream.forget(locals, tuples_);
  for (vectors::NodeVectors& node : agent.vectors) {
    node.by_time.forget(locals);
    node.by_iteration.forget(locals);
  }
  for (const std::uint32_t local : locals) agent.marks.erase(local);
  templates_.forget(agent.node_index, ids);
}

template <class Archive, class Self>
void JobState::persist(Archive& archive, Self& self) {
  std::string id = self.id_;
  archive(id);
  archive.require(id == self.id_);
  archive(self.job_index_);
  archive.part(self.tuples_);
  archive.list(self.coverage_, 21, [&](auto& one) { persist_coverage(archive, one); });
  archive.list(self.warnings_, 4, [&](auto& warning) {
    archive(warning.kind, warning.file, warning.reason, warning.bytes);
  });
  archive(self.forgotten_, self.lines_by_half_);
  const auto text = [&](auto& name) { archive(name); };
  archive.map(self.agents_, 8, text, [&](auto& agent, const std::string& name) {
    persist_agent(archive, agent, self.tuples_);
    if constexpr (Archive::kLoads) {
      agent.name = name;
      for (const auto& [key, index] : agent.files) archive.require(index < self.coverage_.size());
      for (auto& [source, stream] : agent.streams)
        stream.vectors = vectors_of(agent, stream.source);
      self.sources_ += agent.streams.size();
      self.nics_ += agent.nics.nics().size();
    }
  });
}

void JobState::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void JobState::load(ByteReader& in) {
  saved::Reader archive(in);
  sources_ = nics_ = 0;
  persist(archive, *this);
}

}  // namespace l4::job
