#include "agent/node_agent.h"

#include <algorithm>
#include <set>
#include <utility>

#include "agent/node_state.h"
#include "agent/part_reading.h"
#include "common/wire/codec.h"

namespace l4::agent {
namespace {

constexpr std::size_t kChunkBytes = 256 * 1024;

}  // namespace

NodeAgent::NodeAgent(std::string name, std::vector<discover::LogFile> files,
                     const segment::RulePackSet& packs, Options options)
    : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  state_->packs = &packs;
  state_->options = options;
  state_->timers = packs.timers();
  for (std::size_t i = 0; i < state_->timers.size(); ++i)
    state_->batch.timers.push_back({static_cast<std::uint16_t>(i), state_->timers[i]->name,
                                    static_cast<wire::TimerKind>(state_->timers[i]->role)});
  state_->miner = drain::TemplateMiner(options.drain);
  for (discover::LogFile& file : files) state_->files.emplace_back(std::move(file));
}

NodeAgent::~NodeAgent() = default;
NodeAgent::NodeAgent(NodeAgent&&) noexcept = default;

const std::string& NodeAgent::name() const {
  return state_->name;
}

void NodeAgent::read_all(wire::Sender& sender, std::atomic<std::uint64_t>& bytes_done,
                         const std::stop_token& stop) {
  state_->sender = &sender;
  state_->chunk = std::make_unique_for_overwrite<char[]>(kChunkBytes);
  for (OpenFile& open : state_->files) {
    if (stop.stop_requested()) break;
    state_->read_file(open, bytes_done, stop);
  }
  do state_->flush();
  while (!state_->forgotten.empty() && !stop.stop_requested());
  state_->sender = nullptr;
  state_->chunk.reset();
}

void NodeAgent::freeze() {
  State& state = *state_;
  for (OpenFile& open : state.files)
    if (open.marker) open.marker_text = state.miner.at(*open.marker).text;
  state.miner.freeze();
  state.index.freeze();
  const auto drop = [](auto& list) { list = std::remove_reference_t<decltype(list)>(); };
  drop(state.traits);
  drop(state.forgotten);
  drop(state.segmenters);
  drop(state.sent_sources);
  drop(state.timers);
  drop(state.batch);
}

void NodeAgent::State::read_file(OpenFile& open, std::atomic<std::uint64_t>& bytes_done,
                                 const std::stop_token& stop) {
  decode::Options decode_options = options.decode;
  if (!decode_options.year_hint)
    decode_options.year_hint =
        open.file.older.empty() ? open.file.modified : open.file.older.front().modified;
  decode::Decoder decoder(decode_options,
                          [&](const decode::Record& record) { on_record(open, record); });
  PartReading reading{{chunk.get(), kChunkBytes}, bytes_done, stop, batch.warnings};
  for (FilePart& part : open.parts) {
    part.bytes.from = decoder.stats().bytes;
    part.lines_before = decoder.stats().lines;
    const std::uint64_t bytes_expected = read_part(part, decoder, reading);
    decoder.end_part();
    part.bytes.to = decoder.stats().bytes;
    const std::uint64_t bytes = part.bytes.to - part.bytes.from;
    batch.coverage.push_back({part.name,
                              {0, bytes},
                              decoder.stats().lines - part.lines_before,
                              std::max(bytes, bytes_expected)});
  }
  decoder.finish();
  finish_file(open, decoder);
}

void NodeAgent::State::finish_file(OpenFile& open, const decode::Decoder& decoder) {
  finish_run(open, true);
  open.learners.clear();
  open.stats = decoder.stats();
  open.time_format = decoder.time_format();
  note_left_out(open.stats, options.decode, open.file.name, batch.warnings);
}

SourceId NodeAgent::State::add_source(OpenFile& open, std::size_t speaker) {
  const SourceId id{static_cast<std::uint32_t>(file_of_source.size())};
  file_of_source.push_back(static_cast<std::size_t>(
      std::ranges::find_if(files, [&](const OpenFile& file) { return &file == &open; }) -
      files.begin()));
  segment::IterationLearner learner;
  if (speaker < open.learners.size()) learner = std::move(open.learners[speaker]);
  segmenters.push_back(std::make_unique<segment::Segmenter>(
      id,
      [this](wire::Segment&& segment, std::span<const wire::ByteRange> where) {
        on_segment(std::move(segment), where);
      },
      std::move(learner)));
  open.runs.add(speaker, id);
  wire::SourceDefinition source = open.speakers.definition(speaker);
  source.id = id;
  source.run = open.runs.current();
  sent_sources.emplace(id, source);
  batch.sources.push_back(std::move(source));
  return id;
}

/// The lines from here on are a new run's, whoever says them.
void NodeAgent::State::begin_run(OpenFile& open, std::uint64_t from_byte) {
  finish_run(open, false);
  open.runs.begin(from_byte);
}

/// Ships what the run's segmenters hold, and its sources again if more is known of them now.
void NodeAgent::State::finish_run(OpenFile& open, bool last) {
  open.runs.each([&](std::size_t speaker, SourceId id) {
    auto& segmenter = segmenters[id.value()];
    segmenter->finish();
    if (const auto marker = segmenter->marker();
        marker && (!open.marker || segmenter->marks() > open.marks)) {
      open.marker = marker;
      open.marks = segmenter->marks();
    }
    wire::SourceDefinition source = open.speakers.definition(speaker);
    source.id = id;
    source.run = open.runs.current();
    if (!last) source.modified.reset();  // the file went on after it
    if (source != sent_sources.at(id)) batch.sources.push_back(std::move(source));
    if (speaker >= open.learners.size()) open.learners.resize(speaker + 1);
    open.learners[speaker] = segmenter->release_learner();
    segmenter.reset();
  });
  sent_sources.clear();
}

segment::TemplateTraits& NodeAgent::State::traits_of(LocalTemplateId id,
                                                     const decode::Record& record) {
  segment::TemplateTraits& found = traits[id];
  if (found.seen++ == 0) {
    found.role = packs->classify(record.text);
    known_packs.insert(found.role.packs.begin(), found.role.packs.end());
    found.names_epoch = segment::epoch_in(record.text).has_value();
    for (const segment::Timer* timer : found.role.timers)
      found.timer_ids.push_back(
          static_cast<std::uint16_t>(std::ranges::find(timers, timer) - timers.begin()));
  }
  found.level = std::max(found.level, record.level);
  return found;
}

void NodeAgent::State::on_record(OpenFile& open, const decode::Record& record) {
  const std::size_t speaker = open.speakers.find(record.speaker).speaker;
  const auto segmenter = [&]() -> segment::Segmenter& {
    const auto source = open.runs.source(speaker);
    return *segmenters[(source ? *source : add_source(open, speaker)).value()];
  };
  const drain::Match match = miner.learn(record.text, record.level >= Level::warning);
  segment::TemplateTraits& known = traits_of(match.id, record);
  auto mark = segmenter().mark_of(record, match.id, known);
  if (open.watch.begins(speaker, known, record.level, mark) && !open.runs.full()) {
    begin_run(open, record.bytes.from);
    mark = segmenter().mark_of(record, match.id, known);
  }
  const Stage stage = record.stack.empty() ? Stage::unknown : packs->stage_of(record.stack);
  segment::Segmenter& own = segmenter();
  own.add(record, match.id, known, mark, stage, match.literal && known.silent == match.skeleton);
  if (match.literal && own.was_silent()) known.silent = match.skeleton;
}

void NodeAgent::State::on_segment(wire::Segment&& segment, std::span<const wire::ByteRange> where) {
  index.add(segment, where);
  batch_events += segment.events.size() + segment.order.size();
  batch.segments.push_back(std::move(segment));
  if (batch.segments.size() >= options.segments_per_batch ||
      batch_events >= options.events_per_batch)
    flush();
}

void NodeAgent::State::define_changed() {
  for (const LocalTemplateId id : miner.take_changed()) {
    const drain::LogTemplate& found = miner.at(id);
    wire::TemplateDefinition definition;
    definition.id = id;
    definition.generation = found.generation;
    definition.text = found.text;
    const segment::TemplateTraits& known = traits[id];
    definition.level = known.level;
    definition.marks = segment::marks_of(known.role);
    definition.skeletons = found.skeletons;
    definition.alias_of = found.alias_of;
    batch.templates.push_back(std::move(definition));
  }
}

/// Puts into the batch what the miner forgot, and lets go of what is known of it here.
void NodeAgent::State::take_forgotten() {
  const std::vector<LocalTemplateId> ids = miner.take_forgotten();
  for (const LocalTemplateId id : ids) traits.erase(id);
  forgotten.add(ids);
  batch.forgotten = forgotten.take(segmenters, wire::kForgottenMax);
  index.forget(batch.forgotten);
}

void NodeAgent::State::flush() {
  define_changed();
  take_forgotten();
  batch.lines_by_half = miner.stats().by_half - by_half;
  by_half += batch.lines_by_half;
  batch.agent = name;
  batch.sequence = sequence++;
  sender->send(std::exchange(batch, {}));
  batch_events = 0;
}

std::vector<std::string> NodeAgent::frameworks() const {
  return {state_->known_packs.begin(), state_->known_packs.end()};
}

std::vector<FileFacts> NodeAgent::facts() const {
  std::vector<FileFacts> facts;
  for (const OpenFile& open : state_->files) {
    FileFacts fact{open.file.name,
                   open.file.node,
                   std::string(open.time_format),
                   open.stats.bytes,
                   open.stats.lines,
                   open.stats.lines_with_time,
                   open.stats.lines_with_rank,
                   open.file.older.size(),
                   {},
                   {}};
    std::set<Rank> ranks;
    for (std::size_t speaker = 0; speaker < open.speakers.size(); ++speaker)
      if (const auto rank = open.speakers.definition(speaker).rank) ranks.insert(*rank);
    fact.ranks.assign(ranks.begin(), ranks.end());
    fact.iteration_marker = open.marker_text;
    if (open.marker && fact.iteration_marker.empty())
      fact.iteration_marker = state_->miner.at(*open.marker).text;
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace l4::agent
