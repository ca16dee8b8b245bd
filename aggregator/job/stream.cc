#include "aggregator/job/stream.h"

#include <algorithm>

namespace l4::job {
namespace {

void widen(std::optional<TimeMs>& begin, std::optional<TimeMs>& end, const wire::Segment& segment) {
  if (segment.begin && (!begin || *segment.begin < *begin)) begin = segment.begin;
  if (segment.end && (!end || *segment.end > *end)) end = segment.end;
}

}  // namespace

void Stream::apply(const wire::Segment& segment, SequencePool& sequences) {
  if (segment.begin && end)
    gap_max_ms = std::max(gap_max_ms, static_cast<double>((*segment.begin - *end).count()));
  apply_events(segment);
  apply_stage(segment);
  if (segment.iteration) apply_iteration(segment, sequences);
  widen(begin, end, segment);
  last_line = std::max(last_line, segment.lines.last);
  tail_line = std::max(tail_line, segment.lines.first);
  timed_last_line = std::max(timed_last_line, segment.timed_last_line);
}

void Stream::apply_events(const wire::Segment& segment) {
  for (const wire::EventCount& event : segment.events) {
    EventStats& stats = events[event.id.value()];
    if (stats.count == 0 || event.first_line < stats.first_line) {
      stats.first_line = event.first_line;
      stats.first_time = event.first_time ? event.first_time : (segment.end ? segment.end : end);
      stats.first_time_exact = event.first_time.has_value();
      stats.first_stage = segment.stage;
      stats.first_iteration = segment.iteration ? segment.iteration : last_completed;
    }
    stats.count += event.count;
    stats.last_line = std::max(stats.last_line, segment.lines.last);
    // At least then: a segment may go on long after the last of these.
    const auto newest = event.first_time ? event.first_time : (segment.begin ? segment.begin : end);
    if (newest && (!stats.last_time || *newest > *stats.last_time)) stats.last_time = newest;
    stats.last_iteration = segment.iteration ? segment.iteration : last_completed;
    ++stats.segments;
    lines += event.count;
  }
  for (const wire::ParameterTuple& tuple : segment.parameters) {
    auto& seen = parameters[tuple.id.value()];
    const auto same = std::ranges::find(seen, tuple.values, &ParameterSeen::values);
    if (same != seen.end())
      same->count += tuple.count;
    else if (seen.size() < kTuplesMax)
      seen.push_back({tuple.values, tuple.count});
  }
}

void Stream::apply_stage(const wire::Segment& segment) {
  if (stages.empty() || stages.back().stage != segment.stage)
    stages.push_back({segment.stage, segment.lines.first, segment.begin, segment.end});
  if (!stages.back().time) stages.back().time = segment.begin;
  if (segment.end) stages.back().end = segment.end;
}

void Stream::forget_iterations() {
  iterations.clear();
  last_completed.reset();
  last_started.reset();
  last_completed_time.reset();
  first_completed_time.reset();
}

void Stream::apply_iteration(const wire::Segment& segment, SequencePool& sequences) {
  if (segment.counted && !counted && !iterations.empty()) return;
  if (!segment.counted && counted) forget_iterations();
  counted = segment.counted;
  IterationRecord& record = iterations[*segment.iteration];
  Sequence tail;
  tail.reserve(segment.order.size());
  for (const wire::Run& run : segment.order) tail.push_back(run.id.value());
  record.sequence = sequences.append(record.sequence, tail);
  widen(record.begin, record.end, segment);
  for (const wire::TimerTotal& timer : segment.timers) {
    const auto same = std::ranges::find(record.timers, timer.timer, &wire::TimerTotal::timer);
    if (same == record.timers.end()) record.timers.push_back(timer);
  }
  if (segment.boundary == wire::Boundary::completed) {
    record.completed = true;
    last_completed_line = segment.lines.last;
    if (!last_completed || *segment.iteration > *last_completed) {
      last_completed = segment.iteration;
      last_completed_time = segment.end;
      if (!first_completed_time) first_completed_time = segment.end;
    }
  } else if (!last_started || *segment.iteration > *last_started) {
    last_started = segment.iteration;
  }
  if (iterations.size() > kTimedIterationsMax) {
    auto old = std::prev(iterations.end(), static_cast<std::ptrdiff_t>(kTimedIterationsMax) + 1);
    old->second.timers.clear();
    old->second.timers.shrink_to_fit();
  }
  if (iterations.size() > kIterationsMax) {
    iterations.erase(iterations.begin());
    ++dropped_iterations;
  }
}

}  // namespace l4::job
