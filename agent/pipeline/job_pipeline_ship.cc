// What JobPipeline sends: when a log's segments are complete, and the definitions that go with
// them.
#include <algorithm>
#include <iterator>
#include <utility>

#include "agent/pipeline/job_pipeline.h"
#include "common/base/check.h"
#include "common/base/earliest.h"
#include "common/wire/limits.h"

namespace l4::pipeline {

bool JobPipeline::dirty() const {
  return has_news() ||
         std::ranges::any_of(logs_, [](const auto& entry) { return entry.second->dirty; });
}

std::optional<Millis> JobPipeline::due() const {
  std::optional<Millis> first;
  for (const auto& [number, log] : logs_)
    for (const auto& since : {log->waits_since, log->mixed_since, log->line_since})
      if (log->dirty && since && log->fed && log->fed->steady <= *since)
        keep_earliest(first, *since + options_.hold);
  return first;
}

void JobPipeline::flush(Millis steady, bool all) {
  if (!options_.live) {
    do send();
    while (!forgotten_.empty());
    return;
  }
  for (auto at = logs_.begin(); at != logs_.end();) {
    LogState& log = *at->second;
    if (log.dirty) ship(log, steady, all);
    at = log.ended && !log.dirty ? logs_.erase(at) : std::next(at);
  }
  const bool something = has_news() || !batch_.segments.empty() || !batch_.coverage.empty() ||
                         !batch_.sources.empty() || !batch_.figures.empty() ||
                         !batch_.readings.empty();
  if (something) send();
}

/// True if every given record stands before every record that waits, so that the given records can
/// be shipped. Records that have waited for `hold` are given as they are.
bool JobPipeline::is_ready(LogState& log, Millis steady, bool all) {
  if (log.ended) return true;
  decode::Decoder& decoder = *log.decoder;
  decoder.flush_block();
  decode::Progress now = decoder.progress();
  const Millis fed = log.fed ? log.fed->steady : steady;
  if (!now.bar) {
    log.line_since.reset();
  } else if (!log.line_since || log.line_from != now.front.bytes) {
    log.line_from = now.front.bytes;
    log.line_since = fed;
  } else if (steady - *log.line_since >= options_.hold) {
    decoder.emit_unfinished();
    log.line_since.reset();
    now = decoder.progress();
  }
  if (now.given == now.front) {
    log.waits_since.reset();
  } else if (!log.waits_since || log.waits_from != now.given.bytes) {
    log.waits_from = now.given.bytes;
    log.waits_since = fed;
  }
  const bool mixed = log.records_to > now.given.bytes;
  if (!mixed) log.mixed_since.reset();
  if (mixed && !log.mixed_since) log.mixed_since = fed;
  const bool over = (log.waits_since && steady - *log.waits_since >= options_.hold) ||
                    (log.mixed_since && steady - *log.mixed_since >= options_.hold);
  if (!all && !over) return !mixed;
  decoder.release_held();
  log.waits_since.reset();
  log.mixed_since.reset();
  return true;
}

/// Moves the log's finished segments into the batch, with their coverage.
void JobPipeline::ship(LogState& log, Millis steady, bool all) {
  if (log.fresh && !log.ended) {
    log.dirty = false;
    return;
  }
  if (!is_ready(log, steady, all)) return;
  const bool again = log.described || log.file.kind == wire::SourceKind::rank;
  log.runs.each([&](std::size_t speaker, SourceId id) {
    auto& segmenter = segmenters_[id.value()];
    if (!segmenter) return;
    segmenter->cut();
    figures_.release(id, false, batch_.figures);
    const auto told = log.defined.find(id);
    const bool marked =
        told != log.defined.end() && told->second.marker != segmenter->marker_taken();
    if (again || marked) define_source(log, speaker, id, log.runs.current(), true);
  });
  log.described = false;
  if (!log.ended) note_reading(log);
  ship_segments(log);
  const decode::Progress now = log.decoder->progress();
  if (!log.runs.is_past(now.given.bytes)) log.past.clear();
  log.extents.cover(now.given, false, batch_);
  log.dirty = !log.ended && (now.given != now.front || now.unfinished);
}

/// Sends full batches. A batch can end after a segment only if all later segments begin behind the
/// batch's last byte, because its coverage is one range.
void JobPipeline::ship_segments(LogState& log) {
  std::vector<wire::Segment> staged = std::exchange(log.staged, {});
  std::vector<std::uint64_t> next(staged.size(), ~std::uint64_t{0});  // first byte of all followers
  for (std::size_t i = staged.size(); i-- > 1;) {
    const std::uint64_t own = staged[i].bytes.from;
    next[i - 1] = std::min(own, next[i]);
  }
  decode::LinePosition end;
  for (std::size_t i = 0; i < staged.size(); ++i) {
    const std::size_t events = staged[i].events.size() + staged[i].order.size();
    L4_CHECK(staged_ > 0 && staged_events_ >= events,
             "{} segments and {} events are staged, not {}", staged_, staged_events_, events);
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
    unshipped_ = std::span(staged).subspan(i + 1);
    send();
    unshipped_ = {};
  }
}

void JobPipeline::send() {
  define_used();
  define_changed();
  report_forgotten();
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
  definition.text = cleaned(found.text);
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

/// Defines the templates of the batch that were not defined since the restart.
void JobPipeline::define_used() {
  if (undefined_.empty()) return;
  for (const wire::Segment& segment : batch_.segments)
    for (const wire::EventCount& event : segment.events)
      if (event.id.value() < undefined_.size() && undefined_[event.id.value()]) define(event.id);
}

/// Moves forgotten templates into the batch, and erases their traits.
void JobPipeline::report_forgotten() {
  const std::vector<LocalTemplateId> ids = miner_.poll_forgotten();
  for (const LocalTemplateId id : ids) traits_.erase(id);
  forgotten_.add(ids);
  if (forgotten_.empty()) return;
  std::vector<std::span<const wire::EventCount>> unshipped;
  for (const auto& [number, log] : logs_) {
    log->runs.each([&](std::size_t, SourceId id) {
      if (const auto& segmenter = segmenters_[id.value()])
        unshipped.push_back(segmenter->open_events());
    });
    for (const wire::Segment& segment : log->staged) unshipped.push_back(segment.events);
  }
  for (const wire::Segment& segment : unshipped_) unshipped.push_back(segment.events);
  batch_.forgotten = forgotten_.release(unshipped, wire::kForgottenMax);
  output_.forgotten(batch_.forgotten);
}

}  // namespace l4::pipeline
