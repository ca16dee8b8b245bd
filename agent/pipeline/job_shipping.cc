// What leaves the pipeline: batches whose coverage says exactly which lines are in them.
#include <algorithm>
#include <iterator>
#include <utility>

#include "agent/pipeline/job_pipeline.h"
#include "agent/pipeline/redaction.h"
#include "common/wire/codec.h"

namespace l4::pipeline {

bool JobPipeline::dirty() const {
  return !batch_.warnings.empty() || !batch_.templates.empty() || !batch_.processes.empty() ||
         !forgotten_.empty() ||
         std::ranges::any_of(logs_, [](const auto& entry) { return entry.second->dirty; });
}

void JobPipeline::flush(Millis steady, bool all) {
  if (!options_.live) {
    do send();
    while (!forgotten_.empty());
    return;
  }
  for (auto at = logs_.begin(); at != logs_.end();) {
    Log& log = *at->second;
    if (log.dirty) ship(log, steady, all);
    if (log.ended && !log.dirty)
      at = logs_.erase(at);
    else
      ++at;
  }
  const bool something = !batch_.segments.empty() || !batch_.coverage.empty() ||
                         !batch_.warnings.empty() || !batch_.sources.empty() ||
                         !batch_.templates.empty() || !batch_.processes.empty() ||
                         !forgotten_.empty();
  if (something) send();
}

/// Nothing was given that stands behind something that was not: what was given can be shipped. If
/// that does not come about by itself, records that wait are given as they stand.
bool JobPipeline::settled(Log& log, Millis steady, bool all) {
  if (log.ended) return true;
  decode::Decoder& decoder = *log.decoder;
  decoder.flush_block();
  decode::Progress now = decoder.progress();
  if (!now.bar) {
    log.line_since.reset();
  } else if (!log.line_since || log.line_from != now.front.bytes) {
    log.line_from = now.front.bytes;
    log.line_since = steady;
  } else if (steady - *log.line_since >= options_.hold) {
    decoder.emit_unfinished();
    log.line_since.reset();
    now = decoder.progress();
  }
  if (now.given == now.front) {
    log.waits_since.reset();
  } else if (!log.waits_since || log.waits_from != now.given.bytes) {
    log.waits_from = now.given.bytes;
    log.waits_since = steady;
  }
  const bool mixed = log.records_to > now.given.bytes;
  if (!mixed) log.mixed_since.reset();
  if (mixed && !log.mixed_since) log.mixed_since = steady;
  const bool over = (log.waits_since && steady - *log.waits_since >= options_.hold) ||
                    (log.mixed_since && steady - *log.mixed_since >= options_.hold);
  if (!all && !over) return !mixed;
  decoder.release_held();
  log.waits_since.reset();
  log.mixed_since.reset();
  return true;
}

/// Moves into the batch what the log has ready, with the bytes that it stands for.
void JobPipeline::ship(Log& log, Millis steady, bool all) {
  if (log.fresh && !log.ended) {
    log.dirty = false;
    return;
  }
  if (!settled(log, steady, all)) return;
  const bool again = log.described || log.file.kind == wire::SourceKind::rank;
  log.runs.each([&](std::size_t speaker, SourceId id) {
    auto& segmenter = segmenters_[id.value()];
    if (!segmenter) return;
    segmenter->cut();
    if (again) define_source(log, speaker, id, true);
  });
  log.described = false;
  ship_segments(log);
  const decode::Progress now = log.decoder->progress();
  log.extents.cover(now.given, false, batch_);
  log.dirty = !log.ended && (now.given != now.front || now.unfinished);
}

/// A batch that is full is sent where it can be said which bytes it holds: where nothing behind it
/// in the list stands before the end of what it has.
void JobPipeline::ship_segments(Log& log) {
  std::vector<wire::Segment> staged = std::exchange(log.staged, {});
  std::vector<std::uint64_t> next(staged.size(), ~std::uint64_t{0});  // first byte behind it
  for (std::size_t i = staged.size(); i-- > 1;) {
    const std::uint64_t own = staged[i].bytes.from;
    next[i - 1] = std::min(own, next[i]);
  }
  decode::TextPosition end;
  for (std::size_t i = 0; i < staged.size(); ++i) {
    const std::size_t events = staged[i].events.size() + staged[i].order.size();
    --staged_;
    staged_events_ -= events;
    batch_events_ += events;
    end.bytes = std::max(end.bytes, staged[i].bytes.to);
    end.lines = std::max(end.lines, staged[i].lines.last);
    batch_.segments.push_back(std::move(staged[i]));
    const bool enough = batch_.segments.size() >= options_.segments_per_batch ||
                        batch_events_ >= options_.events_per_batch;
    if (!enough || i + 1 == staged.size() || next[i] < end.bytes) continue;
    log.extents.cover(end, false, batch_);
    under_way_ = std::span(staged).subspan(i + 1);
    send();
    under_way_ = {};
  }
}

void JobPipeline::send() {
  define_used();
  define_changed();
  take_forgotten();
  const std::uint64_t by_half = miner_.stats().by_half;
  batch_.lines_by_half = by_half - std::exchange(by_half_, by_half);
  batch_.job = job_;
  output_.batch(std::exchange(batch_, {}));
  batch_events_ = 0;
}

void JobPipeline::define(LocalTemplateId id) {
  const drain::LogTemplate& found = miner_.at(id);
  wire::TemplateDefinition definition;
  definition.id = id;
  definition.generation = found.generation;
  definition.text = options_.secrets == nullptr
                        ? found.text
                        : std::string(options_.secrets->apply(found.text, redacted_));
  const segment::TemplateTraits& known = traits_[id];
  definition.level = known.level;
  definition.marks = segment::marks_of(known.role);
  definition.skeletons = found.skeletons;
  definition.alias_of = found.alias_of;
  batch_.templates.push_back(std::move(definition));
  if (id.value() < undefined_.size()) undefined_[id.value()] = false;
  if (found.alias_of && found.alias_of->value() < undefined_.size() &&
      undefined_[found.alias_of->value()])
    define(*found.alias_of);
}

void JobPipeline::define_changed() {
  created_ = 0;
  for (const LocalTemplateId id : miner_.poll_changed()) define(id);
}

/// What the batch uses and was told before a restart only.
void JobPipeline::define_used() {
  if (undefined_.empty()) return;
  for (const wire::Segment& segment : batch_.segments)
    for (const wire::EventCount& event : segment.events)
      if (event.id.value() < undefined_.size() && undefined_[event.id.value()]) define(event.id);
}

void JobPipeline::define_again(const std::vector<LocalTemplateId>& ids) {
  for (const LocalTemplateId id : ids)
    if (id.value() < templates_used_ && !miner_.at(id).text.empty()) define(id);
}

/// Puts into the batch what the miner forgot, and lets go of what is known of it here.
void JobPipeline::take_forgotten() {
  const std::vector<LocalTemplateId> ids = miner_.poll_forgotten();
  for (const LocalTemplateId id : ids) traits_.erase(id);
  forgotten_.add(ids);
  if (forgotten_.empty()) return;
  std::vector<std::span<const wire::EventCount>> under_way;
  for (const auto& [number, log] : logs_) {
    log->runs.each([&](std::size_t, SourceId id) {
      if (const auto& segmenter = segmenters_[id.value()])
        under_way.push_back(segmenter->open_events());
    });
    for (const wire::Segment& segment : log->staged) under_way.push_back(segment.events);
  }
  for (const wire::Segment& segment : under_way_) under_way.push_back(segment.events);
  batch_.forgotten = forgotten_.take(under_way, wire::kForgottenMax);
  output_.forgotten(batch_.forgotten);
}

void JobPipeline::restart() {
  std::erase_if(logs_, [](const auto& entry) { return entry.second->ended; });
  for (auto& [number, log] : logs_) {
    log->decoder.reset();
    log->staged.clear();
    log->extents.clear();
    log->defined.clear();
    log->learners.clear();
    log->watch = {};
    log->records_to = 0;
    log->fresh = true;
    log->dirty = false;
    log->waits_since.reset();
    log->mixed_since.reset();
    log->line_since.reset();
  }
  for (auto& segmenter : segmenters_) segmenter.reset();
  staged_ = staged_events_ = 0;
  batch_ = {};
  name_timers();
  undefined_.assign(templates_used_, true);
}

}  // namespace l4::pipeline
