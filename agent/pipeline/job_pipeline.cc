#include "agent/pipeline/job_pipeline.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "agent/pipeline/redaction.h"
#include "agent/segment/progress_grammar.h"
#include "common/base/check.h"
#include "common/parameters/parameters.h"

namespace l4::pipeline {
namespace {

/// New templates are defined early once they are this fraction of Options::templates_max.
constexpr std::size_t kUntoldShare = 8;
/// A run of the order takes 8 bytes, a parameter tuple some 100. Beyond the number in an ordinary
/// iteration, runs take at most a quarter of a per cent of the text, tuples a tenth.
constexpr segment::Segmenter::Share kRuns{128, 3200}, kTuples{12, 256 * 1024};

}  // namespace

JobPipeline::JobPipeline(std::string job, const segment::RulePackSet& packs, Options options,
                         Output& output)
    : job_(std::move(job)),
      packs_(&packs),
      options_(options),
      output_(output),
      wording_([this](const Outline& outline) {
        miner_.prefetch(outline);
        silent_.prefetch(outline);
      }),
      miner_(options.drain),
      timers_(packs.timers()),
      learned_(timers_.size()) {
  name_timers();
}

JobPipeline::~JobPipeline() = default;

void JobPipeline::name_timers() {
  for (std::size_t i = 0; i < timers_.size(); ++i)
    batch_.timers.push_back({static_cast<std::uint16_t>(i), timers_[i]->name,
                             static_cast<wire::TimerKind>(timers_[i]->role)});
  batch_.timers.insert(batch_.timers.end(), learned_.names().begin(), learned_.names().end());
}

const LogState* JobPipeline::log(LogNumber number) const {
  const auto found = logs_.find(number);
  return found == logs_.end() ? nullptr : found->second.get();
}

LogNumber JobPipeline::open(discover::LogFile facts, std::optional<TimeMs> year_hint,
                            std::optional<TimeMs> usual_time) {
  const LogNumber number{logs_opened_++};
  LogState& log =
      *logs_.emplace(number, std::make_unique<LogState>(std::move(facts))).first->second;
  log.number = number;
  log.decode = options_.decode;
  if (!log.decode.year_hint) log.decode.year_hint = year_hint;
  log.decode.usual_time = usual_time;
  return number;
}

void JobPipeline::describe(LogNumber number, const discover::LogFile& facts) {
  LogState& log = at(number);
  // Speakers that prefixes tell apart keep their own ranks.
  const bool one_voice = log.speakers.size() == 0 || log.file.kind == wire::SourceKind::rank;
  if (one_voice) {
    log.file.kind = facts.kind;
    log.file.rank = facts.rank;
    log.file.local_rank = facts.local_rank;
  }
  log.file.node = facts.node;
  log.file.node_known = facts.node_known;
  log.file.attempt = facts.attempt;
  log.described = log.dirty = true;
}

void JobPipeline::set_user(LogNumber number, const std::string& user) {
  LogState& log = at(number);
  if (log.file.user == user) return;
  log.file.user = user;
  log.described = log.dirty = true;
}

decode::Decoder& JobPipeline::decoder_of(LogState& log) {
  if (!log.decoder)
    log.decoder = std::make_unique<decode::Decoder>(
        log.decode, [this, &log](const decode::Record& record) { on_record(log, record); },
        &wording_);
  return *log.decoder;
}

void JobPipeline::begin_part(LogNumber number, const FilePosition& part) {
  LogState& log = at(number);
  decode::Decoder& decoder = decoder_of(log);
  if (log.fresh) {
    decode::LinePosition begin;
    if (const auto known = log.begins.find(part.file.key); known != log.begins.end())
      begin = known->second;
    begin = {begin.bytes + part.offset, begin.lines + part.lines.value_or(0)};
    decoder.start_at(begin.lines + 1, begin.bytes);
    log.runs.go_back(begin.bytes);
    log.fresh = false;
  } else {
    decoder.end_part();
  }
  const decode::LinePosition here = decoder.progress().front;
  log.extents.begin(part.path, part.file, part.offset, part.known, here);
  if (part.file.key != 0) {
    constexpr std::size_t kPartsMax = 1024;
    if (log.begins.size() >= kPartsMax) log.begins.clear();
    const std::uint64_t lines = part.lines.value_or(0);
    log.begins.try_emplace(part.file.key, here.bytes - std::min(here.bytes, part.offset),
                           here.lines - std::min(here.lines, lines));
  }
  log.dirty = true;
}

void JobPipeline::set_known(LogNumber number, const wire::FileId& file, std::uint64_t bytes) {
  at(number).extents.set_known(file, bytes);
}

void JobPipeline::feed(LogNumber number, std::string_view bytes) {
  LogState& log = at(number);
  L4_CHECK(log.decoder != nullptr, "log {} is fed {} bytes before a part begins", number,
           bytes.size());
  log.dirty = true;
  log.fed = arrival_;
  log.decoder->feed(bytes);
}

void JobPipeline::add_whole(LogNumber number, const FilePosition& part, std::uint64_t to,
                            std::string_view lines, std::string_view lost) {
  LogState& log = at(number);
  decode::Decoder& decoder = decoder_of(log);
  log.fresh = false;
  decoder.end_part();
  const decode::LinePosition here = decoder.progress().front;
  log.extents.add_whole(part.path, part.file, {part.offset, to}, part.known, here,
                        here.bytes + lines.size(), lost);
  log.dirty = true;
  log.fed = arrival_;
  if (!lines.empty()) decoder.feed(lines);
}

void JobPipeline::record(LogNumber number, const FilePosition& part, std::uint64_t to,
                         std::string_view lines, const std::optional<Attribution>& attribution) {
  if (!attribution) return add_whole(number, part, to, lines, {});
  LogState& log = at(number);
  decode::Decoder& decoder = decoder_of(log);
  const auto give_all = [&decoder] {
    decoder.end_part();
    decoder.release_held();
  };
  give_all();  // records that wait have another attribution
  log.attribution = attribution;
  add_whole(number, part, to, lines, {});
  give_all();
  log.attribution.reset();
}

void JobPipeline::missing(LogNumber number, const FilePosition& part, std::uint64_t to,
                          std::string_view lost) {
  add_whole(number, part, to, {}, lost);
}

std::optional<std::uint64_t> JobPipeline::lines_of(LogNumber number, std::uint64_t file_key) const {
  const LogState* log = this->log(number);
  if (log == nullptr || !log->decoder) return std::nullopt;
  const auto begin = log->begins.find(file_key);
  if (begin == log->begins.end()) return std::nullopt;
  return log->decoder->progress().front.lines - begin->second.lines;
}

void JobPipeline::quiet(LogNumber number) {
  LogState& log = at(number);
  if (log.decoder) log.decoder->emit_unfinished();
  log.dirty = true;
}

void JobPipeline::end(LogNumber number) {
  LogState& log = at(number);
  decode::Decoder& decoder = decoder_of(log);
  decoder.finish();
  if (!options_.live) {
    log.extents.cover(decoder.progress().front, true, batch_);
  }
  finish_run(log, true);
  log.past.clear();
  log.learners.clear();
  log.stats = decoder.stats();
  log.time_format = decoder.time_format();
  log.ended = log.dirty = true;
  note_reading(log);
  if (!options_.live) log.decoder.reset();
}

segment::Segmenter& JobPipeline::segmenter_of(LogState& log, std::size_t speaker) {
  const auto source = log.runs.source(speaker);
  if (source && segmenters_[source->value()]) return *segmenters_[source->value()];
  const SourceId id = source ? *source : next_source(log);
  if (!source) log.runs.add(speaker, id);
  segment::IterationLearner learner;
  if (speaker < log.learners.size()) learner = std::move(log.learners[speaker]);
  segmenters_[id.value()] = make_segmenter(id, std::move(learner));
  define_source(log, speaker, id, log.runs.current(), true);
  return *segmenters_[id.value()];
}

SourceId JobPipeline::next_source(const LogState& log) {
  const SourceId id{static_cast<std::uint32_t>(segmenters_.size())};
  log_of_source_.push_back(log.number);
  segmenters_.emplace_back();
  return id;
}

std::unique_ptr<segment::Segmenter> JobPipeline::make_segmenter(SourceId id,
                                                                segment::IterationLearner learner) {
  auto made = std::make_unique<segment::Segmenter>(
      id,
      [this](wire::Segment&& segment, std::span<const wire::ByteRange> where) {
        on_segment(std::move(segment), where);
      },
      std::move(learner));
  if (options_.live) made->set_shares(kRuns, kTuples);
  return made;
}

/// Defines the source in the batch, if it is not defined or its definition has changed.
void JobPipeline::define_source(LogState& log, std::size_t speaker, SourceId id, std::uint32_t run,
                                bool last_run) {
  wire::SourceDefinition source = log.speakers.definition(speaker);
  source.id = id;
  source.run = run;
  if (!last_run) source.modified.reset();  // the file continued after the run
  if (const auto& segmenter = segmenters_[id.value()]) source.marker = segmenter->marker_taken();
  const auto [told, first] = log.defined.try_emplace(id, source);
  if (!first && told->second == source) return;
  told->second = source;
  batch_.sources.push_back(std::move(source));
}

/// Begins a run: all lines from here on belong to it.
void JobPipeline::begin_run(LogState& log, std::uint64_t from_byte) {
  log.past.clear();
  finish_run(log, false);
  output_.sources_forgotten(log.runs.begin(from_byte));
}

/// Closes the run's segmenters, and defines its sources again if their definitions have changed.
void JobPipeline::finish_run(LogState& log, bool last) {
  log.runs.each([&](std::size_t speaker, SourceId id) {
    auto& segmenter = segmenters_[id.value()];
    if (!segmenter) return;  // no line came since a restart
    segmenter->finish();
    figures_.release(id, true, batch_.figures);
    if (const auto marker = segmenter->marker();
        marker && (!log.marker || segmenter->marks() > log.marks)) {
      log.marker = marker;
      log.marks = segmenter->marks();
      log.marker_taken = segmenter->marker_taken();
    }
    define_source(log, speaker, id, log.runs.current(), last);
    if (speaker >= log.learners.size()) log.learners.resize(speaker + 1);
    log.learners[speaker] = segmenter->release_learner();
    if (!last) log.past[id] = std::move(segmenter);
    segmenter.reset();
  });
  log.defined.clear();
}

segment::TemplateTraits& JobPipeline::traits_of(LocalTemplateId id, const decode::Record& record) {
  segment::TemplateTraits& found = traits_[id];
  if (found.seen++ == 0) {
    templates_used_ = std::max(templates_used_, id.value() + 1);
    found.role = packs_->classify(record.text);
    known_packs_.insert(found.role.packs.begin(), found.role.packs.end());
    if (!record.folded) found.figures = segment::find_figures(record.text);
    found.names_epoch = segment::epoch_in(record.text).has_value();
    found.ended = segment::ends_run(record.text);
    found.promising = segment::IterationLearner::is_promising(record.text);
    found.announces = segment::find_announced(record.text).any();
    for (const segment::Timer* timer : found.role.timers) {
      const auto at = static_cast<std::size_t>(std::ranges::find(timers_, timer) - timers_.begin());
      L4_CHECK(at < timers_.size(), "no rule pack has the timer {}", timer->name);
      found.timer_ids.push_back(static_cast<std::uint16_t>(at));
    }
    const auto clean = [this](const std::string& name) { return cleaned(name); };
    found.durations = learned_.find(record, found.role, clean, batch_.timers);
  }
  found.level = std::max(found.level, record.level);
  return found;
}

void JobPipeline::on_record(LogState& log, const decode::Record& given) {
  if (options_.redaction == nullptr) return ingest(log, given);
  decode::Record record = given;
  record.text = options_.redaction->apply(given.text, redacted_);
  record.outline = {};
  ingest(log, record);
}

void JobPipeline::ingest(LogState& log, const decode::Record& record) {
  log.records_to = std::max(log.records_to, record.bytes.to);
  const std::size_t speaker =
      (log.attribution ? log.speakers.find(*log.attribution) : log.speakers.find(record.speaker))
          .speaker;
  const drain::TemplateMatch match =
      miner_.learn(record.text, record.level >= Level::warning, record.outline);
  created_ += match.created;
  segment::TemplateTraits& known = traits_of(match.id, record);
  if (log.runs.is_past(record.bytes.from)) return add_past(log, speaker, record, match.id);
  if (options_.live && NcclCards::may_tell(record.text))
    nccl_cards_.add(record.text, log.speakers.definition(speaker), record.speaker.device);
  segment::Segmenter* own = &segmenter_of(log, speaker);
  auto mark = own->mark_of(record, match.id, known);
  const segment::RunWatch::Line line{speaker,       match.id,       record.level,
                                     record.folded, record.refused, record.time};
  if (log.watch.begins(line, known, mark)) {
    begin_run(log, record.bytes.from);
    own = &segmenter_of(log, speaker);
    mark = own->mark_of(record, match.id, known);
  }
  const Stage stage = record.stack.empty() ? Stage::unknown : packs_->stage_of(record.stack);
  if (mark && !mark->counted && log.watch.restless()) {
    mark.reset();
    own->lose_marker();
  }
  if (log.fed) own->set_arrival(log.fed->wall);  // it may have waited since then
  const bool silent = record.outline.collapsed != 0 && segment::ships_parameters(known) &&
                      silent_.find(record.outline) != nullptr;
  own->add(record, match.id, known, mark, stage, silent);
  // In a flood the miner evicts templates quickly: they are defined while it knows them.
  if (created_ > options_.drain.templates_max / kUntoldShare) define_changed();
  if (own->was_silent()) note_silent(record);
  if (!known.figures.empty()) figures_.add(record, known, *own);
  log.reading.note(known.role.packs);
}

/// Adds a record that waited for further lines (a warning, a traceback) while a new run began: it
/// belongs to the run in which it stands, as a segment of its own.
void JobPipeline::add_past(LogState& log, std::size_t speaker, const decode::Record& record,
                           LocalTemplateId id) {
  const FileRuns::Past run = log.runs.at(speaker, record.bytes.from);
  const SourceId source = run.source ? *run.source : next_source(log);
  if (!run.source) {
    log.runs.add_at(speaker, record.bytes.from, source);
    define_source(log, speaker, source, run.number, false);
  }
  const segment::TemplateTraits& known = traits_[id];
  const Stage stage = record.stack.empty() ? Stage::unknown : packs_->stage_of(record.stack);
  std::unique_ptr<segment::Segmenter>& segmenter = log.past[source];
  if (!segmenter) segmenter = make_segmenter(source, {});
  if (log.fed) segmenter->set_arrival(log.fed->wall);
  segmenter->add(record, id, known, std::nullopt, stage);
  segmenter->finish();
  log.reading.note(known.role.packs);
}

/// Tells how well the lines of the log were understood, if many were read since it was last told.
void JobPipeline::note_reading(LogState& log) {
  const decode::Stats& stats = log.ended ? log.stats : log.decoder->stats();
  if (!log.reading.is_due(stats.lines, log.ended)) return;
  auto [marker, marks, taken] = std::tuple(log.marker, log.marks, log.marker_taken);
  log.runs.each([&](std::size_t, SourceId id) {
    const auto& segmenter = segmenters_[id.value()];
    if (!segmenter || !segmenter->marker() || segmenter->marks() <= marks) return;
    marker = segmenter->marker();
    marks = segmenter->marks();
    taken = segmenter->marker_taken();
  });
  const std::string_view format = log.ended ? log.time_format : log.decoder->time_format();
  wire::FileReading reading = log.reading.told(log.file.name, stats, format);
  if (marker) reading.marker = cleaned(miner_.at(*marker).text);
  if (marker && taken) reading.marker_why = wire::reason_of(*taken);
  batch_.readings.push_back(std::move(reading));
}

/// A text as it may leave the node.
std::string JobPipeline::cleaned(const std::string& text) {
  return options_.secrets == nullptr ? text : std::string(options_.secrets->apply(text, redacted_));
}

/// Remembers that lines with this outline have no parameters.
void JobPipeline::note_silent(const decode::Record& record) {
  if (record.outline.collapsed == 0) return;
  const auto is_silent = [this](std::string_view line) {
    parameters::extract(line, probed_);
    return probed_.empty();
  };
  silent_.note(record.outline, record.text, true, is_silent,
               [](std::string_view) { return false; });
}

void JobPipeline::on_segment(wire::Segment&& segment, std::span<const wire::ByteRange> where) {
  output_.segment(segment, where);
  const std::size_t events = segment.events.size() + segment.order.size();
  if (options_.live) {
    ++staged_;
    staged_events_ += events;
    at(log_of_source_[segment.source.value()]).staged.push_back(std::move(segment));
    return;
  }
  batch_events_ += events;
  batch_.segments.push_back(std::move(segment));
  if (batch_.segments.size() >= options_.segments_per_batch ||
      batch_events_ >= options_.events_per_batch)
    send();
}

void JobPipeline::restart() {
  std::erase_if(logs_, [](const auto& entry) { return entry.second->ended; });
  for (auto& [number, log] : logs_) {
    log->decoder.reset();
    log->staged.clear();
    log->extents.clear();
    log->defined.clear();
    log->learners.clear();
    log->past.clear();
    log->watch = {};
    log->records_to = 0;
    log->reading = {};
    log->fresh = true;
    log->dirty = false;
    log->waits_since.reset();
    log->mixed_since.reset();
    log->line_since.reset();
  }
  for (auto& segmenter : segmenters_) segmenter.reset();
  figures_.clear();
  staged_ = staged_events_ = 0;
  batch_ = {};
  name_timers();
  undefined_.assign(templates_used_, true);
}

void JobPipeline::freeze() {
  for (auto& [number, log] : logs_) {
    if (log->marker) log->marker_text = miner_.at(*log->marker).text;
    log->file.path = std::filesystem::path();
  }
  miner_.freeze();
  const auto drop = [](auto& list) { list = std::remove_reference_t<decltype(list)>(); };
  drop(traits_);
  drop(probed_);
  silent_ = OutlineMemo<bool>(kSilentMax);
  drop(forgotten_);
  drop(segmenters_);
  figures_.clear();
  drop(timers_);
  drop(batch_);
}

}  // namespace l4::pipeline
