#include "aggregator/job/stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/base/earliest.h"
#include "common/saved/archive.h"

namespace l4::job {
namespace {

template <class Time>
void widen(Time& begin, Time& end, const wire::Segment& segment) {
  keep_earliest(begin, segment.begin);
  keep_latest(end, segment.end);
}

/// Adds the timers that the iteration does not have yet.
void add_timers(PackedTimers& timers, const std::vector<wire::TimerTotal>& more) {
  std::vector<wire::TimerTotal> all;
  for (const wire::TimerTotal& timer : timers) all.push_back(timer);
  for (const wire::TimerTotal& timer : more)
    if (std::ranges::find(all, timer.timer, &wire::TimerTotal::timer) == all.end())
      all.push_back(timer);
  timers.assign(all);
}

/// The record of the iteration, which is added if there is none.
IterationRecord& record_of(Iterations& iterations, Iteration iteration) {
  if (iterations.empty() || iterations.back().first < iteration)
    return iterations.emplace_back(iteration, IterationRecord{}).second;
  auto at = std::ranges::lower_bound(iterations, iteration, {}, &Iterations::value_type::first);
  if (at->first != iteration) at = iterations.emplace(at, iteration, IterationRecord{});
  return at->second;
}

void keep_timers(Iterations& iterations) {
  if (iterations.size() > Stream::kTimedIterationsMax)
    iterations[iterations.size() - Stream::kTimedIterationsMax - 1].second.timers.clear();
}

/// Drops the older half of the sequences; the iterations stay.
void drop_old_sequences(Iterations& iterations, SequencePool& sequences) {
  std::size_t kept = 0;
  for (const auto& [iteration, record] : iterations)
    kept += record.sequence == SequenceId{0} ? 0 : 1;
  std::size_t old = (kept + 1) / 2;
  for (auto& [iteration, record] : iterations) {
    if (old == 0) break;
    if (record.sequence == SequenceId{0}) continue;
    sequences.release(std::exchange(record.sequence, SequenceId{0}));
    --old;
  }
}

enum IterationFlag : std::uint8_t {
  kCompleted = 1,
  kBegin = 2,
  kEnd = 4,
  kSequence = 8,  ///< the sequence differs from the previous iteration's
  kTimers = 16,
  kJump = 32  ///< the number is not the next one
};

/// Number and sequence that follow from the iteration before; they are stored only where they
/// differ.
struct Expected {
  std::int64_t number = 0;
  SequenceId sequence{0};
};

std::uint8_t flags_of(Iteration iteration, const IterationRecord& record, const Expected& by) {
  return static_cast<std::uint8_t>(
      (record.completed ? kCompleted : 0) | (record.begin ? kBegin : 0) | (record.end ? kEnd : 0) |
      (record.sequence != by.sequence ? kSequence : 0) | (record.timers.empty() ? 0 : kTimers) |
      (iteration.value() != by.number ? kJump : 0));
}

template <class Archive, class Timers>
void persist_timers(Archive& archive, Timers& timers) {
  if constexpr (Archive::kLoads) {
    const auto packed = archive.bytes().raw(archive.bytes().count());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(packed.data());  // NOLINT
    archive.require(timers.assign_packed({bytes, packed.size()}));
  } else {
    const auto packed = timers.packed();
    archive(packed.size());
    archive.bytes().raw(std::as_bytes(packed));
  }
}

template <class Archive, class Record>
void persist_iteration(Archive& archive, saved::TimeDistances<Archive>& times, Expected& expected,
                       Iteration& iteration, Record& record) {
  std::uint8_t flags = Archive::kLoads ? 0 : flags_of(iteration, record, expected);
  std::int64_t number = Archive::kLoads ? 0 : iteration.value();
  SequenceId sequence = Archive::kLoads ? expected.sequence : record.sequence;
  archive(flags);
  if ((flags & kJump) != 0)
    archive(number);
  else
    number = expected.number;
  if ((flags & kBegin) != 0) times(record.begin);
  if ((flags & kEnd) != 0) times(record.end);
  if ((flags & kSequence) != 0) archive(sequence);
  if ((flags & kTimers) != 0) persist_timers(archive, record.timers);
  if constexpr (Archive::kLoads) {
    iteration = Iteration{number};
    record.completed = (flags & kCompleted) != 0;
    record.sequence = sequence;
  }
  expected = {number == std::numeric_limits<std::int64_t>::max() ? 0 : number + 1, sequence};
}

template <class Archive, class List>
void persist_iterations(Archive& archive, List& iterations, const SequencePool* sequences) {
  saved::TimeDistances times(archive);
  Expected expected;
  Iteration before{0};
  bool first = true;
  archive.list(iterations, 1, [&](auto& entry) {
    Iteration iteration = entry.first;
    persist_iteration(archive, times, expected, iteration, entry.second);
    if constexpr (Archive::kLoads) {
      archive.require((first || iteration > before) && sequences->has(entry.second.sequence));
      entry.first = iteration;
      before = iteration;
      first = false;
    }
  });
}

template <class Archive, class Anchor>
void persist_anchor(Archive& archive, Anchor& anchor) {
  bool known = anchor.has_value();
  archive(known);
  if constexpr (Archive::kLoads)
    anchor = known ? std::optional<BeatAnchor>(BeatAnchor{}) : std::nullopt;
  if (known) archive(anchor->beat, anchor->iteration);
}

template <class Archive, class Source>
void persist_source(Archive& archive, Source& source) {
  archive(source.id, source.path, source.node);
  archive.enumerator(source.kind, wire::SourceKind::other);
  archive.natural(source.rank);
  archive.enumerator(source.rank_source, RankSource::derived);
  archive.natural(source.local_rank);
  archive(source.attempt, source.run, source.modified, source.user);
  bool marked = source.marker.has_value();
  archive(marked);
  if constexpr (Archive::kLoads)
    source.marker = marked ? std::optional<wire::Marker>(wire::Marker{}) : std::nullopt;
  if (marked)
    archive(source.marker->id, source.marker->grounds, source.marker->standing,
            source.marker->pack);
}

}  // namespace

void Stream::apply(const wire::Segment& segment, SequencePool& sequences, TuplePool& tuples,
                   std::size_t iterations_kept) {
  if (segment.clock_returned && segment.begin) step_back(*segment.begin);
  apply_events(segment);
  apply_parameters(segment, tuples);
  apply_stage(segment);
  if (segment.iteration) apply_iteration(segment, sequences);
  if (segment.rounds != 0) apply_beat(segment, sequences);
  keep_iterations(iterations_kept, sequences);
  widen(begin, end, segment);
  keep_latest(arrival, segment.arrival_end);
  last_line = std::max(last_line, segment.lines.last);
  tail_line = std::max(tail_line, segment.lines.first);
  timed_last_line = std::max(timed_last_line, segment.timed_last_line);
}

void Stream::step_back(TimeMs time) {
  const auto bound = [time](auto& kept) {
    if (kept && *kept > time) kept = time;
  };
  bound(begin);
  bound(end);
  bound(last_completed_time);
  events.bound_times(time);
  for (Iterations* numbered : {&iterations, &beats})
    for (auto& [number, record] : *numbered) {
      bound(record.begin);
      bound(record.end);
    }
  for (StageChange& change : stages) {
    bound(change.time);
    bound(change.end);
  }
}

void Stream::apply_events(const wire::Segment& segment) {
  const bool ends_known = !segment.order_cut && !segment.order.empty() && segment.end;
  for (const wire::EventCount& event : segment.events) {
    EventStats& stats = events[event.id.value()];
    const auto iteration = segment.iteration ? segment.iteration : last_completed;
    if (stats.count == 0 || event.first_line < stats.first_line) {
      stats.first_line = event.first_line;
      stats.first_time = event.first_time ? event.first_time : (segment.end ? segment.end : end);
      stats.first_time_exact = event.first_time.has_value();
      stats.first_stage = segment.stage;
      stats.first_iteration = iteration;
    }
    stats.count += event.count;
    stats.last_line = std::max(stats.last_line, segment.lines.last);
    // A lower bound: a segment may go on long after its last event, unless an event ends it.
    const bool is_last = ends_known && segment.order.back().id == event.id;
    const auto newest = is_last            ? segment.end
                        : event.first_time ? event.first_time
                                           : (segment.begin ? segment.begin : end);
    keep_latest(stats.last_time, newest);
    stats.last_iteration = iteration;
    lines += event.count;
    if (segment.iteration && !segment.counted) iterated += event.count;
  }
}

void Stream::apply_parameters(const wire::Segment& segment, TuplePool& tuples) {
  for (const wire::ParameterTuple& tuple : segment.parameters) {
    const TupleId id = tuples.intern(tuple.values);
    const auto seen =
        std::ranges::equal_range(parameters, tuple.id.value(), {}, &TupleCount::local);
    const auto same = std::ranges::find(seen, id, &TupleCount::tuple);
    if (same == seen.end() && seen.size() < kTuplesMax) {
      parameters.insert(seen.end(), {tuple.id.value(), id, tuple.count});
      continue;
    }
    tuples.release(id);
    if (same != seen.end()) same->count += tuple.count;
  }
}

void Stream::forget(const std::vector<std::uint32_t>& locals, TuplePool& tuples) {
  events.erase(locals);
  std::erase_if(parameters, [&](const TupleCount& seen) {
    if (!std::ranges::binary_search(locals, seen.local)) return false;
    tuples.release(seen.tuple);
    return true;
  });
}

void Stream::apply_stage(const wire::Segment& segment) {
  enter(segment.stage, segment.lines.first, segment.begin, segment.end);
  if (segment.stage_after != Stage::unknown)
    enter(segment.stage_after, segment.lines.last + 1, segment.end, segment.end);
}

void Stream::enter(Stage stage, std::uint64_t line, std::optional<TimeMs> first,
                   std::optional<TimeMs> last) {
  if (stages.size() >= kStagesMax) fold_stages();
  if (stages.empty() || stages.back().stage != stage) stages.push_back({stage, line, first, last});
  if (!stages.back().time) stages.back().time = first;
  if (last) stages.back().end = last;
}

void Stream::fold_stages() {
  const auto newer = stages.begin() + kStagesMax / 2;
  std::vector<StageChange> kept;
  for (auto change = stages.begin(); change != newer; ++change) {
    const auto known = std::ranges::find(kept, change->stage, &StageChange::stage);
    if (known == kept.end()) {
      kept.push_back(*change);
      continue;
    }
    if (!known->time) known->time = change->time;
    known->end = std::max(known->end, change->end);
  }
  kept.insert(kept.end(), newer, stages.end());
  stages = std::move(kept);
}

void Stream::forget_iterations(SequencePool& sequences) {
  for (auto& [iteration, record] : iterations) sequences.release(record.sequence);
  iterations.clear();
  first_anchor.reset();
  last_anchor.reset();
  last_completed.reset();
  last_started.reset();
  last_completed_time.reset();
  stamped = 0;
  reach = wire::Reach::unknown;
  epochs.clear();
}

void Stream::forget_parameters(TuplePool& tuples) {
  for (const TupleCount& seen : parameters) tuples.release(seen.tuple);
  parameters.clear();
}

void Stream::forget_old_sequences(SequencePool& sequences) {
  drop_old_sequences(iterations, sequences);
  drop_old_sequences(beats, sequences);
}

void Stream::forget_beats(SequencePool& sequences) {
  for (auto& [beat, record] : beats) sequences.release(record.sequence);
  beats.clear();
}

void Stream::apply_beat(const wire::Segment& segment, SequencePool& sequences) {
  if (segment.rounds != std::exchange(rounds, segment.rounds)) forget_beats(sequences);
  IterationRecord& record = record_of(beats, Iteration{segment.beat});
  record.sequence = sequences.append(record.sequence, segment.order);
  widen(record.begin, record.end, segment);
  if (!segment.timers.empty()) add_timers(record.timers, segment.timers);
  keep_timers(beats);
}

/// Where a number is printed in each round, rounds are not needed.
void Stream::note_anchor(const wire::Segment& segment, SequencePool& sequences) {
  if (segment.boundary != wire::Boundary::completed || segment.beat == 0) return;
  if (segment.rounds == 0) forget_beats(sequences);
  last_anchor = BeatAnchor{segment.beat, *segment.iteration};
  if (!first_anchor) first_anchor = last_anchor;
}

void Stream::apply_iteration(const wire::Segment& segment, SequencePool& sequences) {
  const bool renumbered = segment.numbering != numbering;
  if (segment.counted && !counted && !renumbered && !iterations.empty()) return;
  if (renumbered || (!segment.counted && counted)) forget_iterations(sequences);
  counted = segment.counted;
  numbering = segment.numbering;
  note_epoch(segment);
  if (!counted) note_anchor(segment, sequences);
  IterationRecord& record = record_of(iterations, *segment.iteration);
  record.sequence = sequences.append(record.sequence, segment.order);
  const bool completed = segment.boundary == wire::Boundary::completed;
  // Later lines do not move the end of a completed iteration: they repeat its number, or belong to
  // it only by expectation.
  if (completed || !record.completed) widen(record.begin, record.end, segment);
  if (!segment.timers.empty()) add_timers(record.timers, segment.timers);
  if (completed) {
    record.completed = true;
    if (segment.timed_last_line != 0 && stamped < kStampedMax) ++stamped;
    if (segment.reach != wire::Reach::unknown) reach = segment.reach;
    // A bar at 0 shows that training began, wherever it is drawn again.
    const bool begins = segment.iteration->value() == 0;
    if (!begins)
      last_completed_line = segment.lines.last;
    else if (!last_completed)
      last_completed_line = segment.lines.first;
    if (!last_completed || *segment.iteration > *last_completed) {
      last_completed = segment.iteration;
      last_completed_time = segment.end;
    }
  } else if (!last_started || *segment.iteration > *last_started) {
    last_started = segment.iteration;
  }
  keep_timers(iterations);
}

void Stream::note_epoch(const wire::Segment& segment) {
  const std::int64_t known = epochs.empty() ? 0 : epochs.back().before;
  if (segment.before == known) return;
  while (!epochs.empty() && epochs.back().from >= *segment.iteration) epochs.pop_back();
  if (epochs.size() >= kEpochsMax) epochs.erase(epochs.begin());
  epochs.push_back({*segment.iteration, segment.before});
}

Iteration Stream::printed(Iteration iteration) const {
  const auto later = std::ranges::upper_bound(epochs, iteration, {}, &EpochBegin::from);
  return later == epochs.begin() ? iteration
                                 : Iteration{iteration.value() - std::prev(later)->before};
}

void Stream::keep_iterations(std::size_t most, SequencePool& sequences) {
  for (; iterations.size() > most; ++dropped_iterations) {
    sequences.release(iterations.front().second.sequence);
    iterations.pop_front();
  }
  for (; beats.size() > most; beats.pop_front()) sequences.release(beats.front().second.sequence);
}

template <class Archive, class Self>
void Stream::persist(Archive& archive, Self& self, const SequencePool* sequences,
                     const TuplePool* tuples) {
  persist_source(archive, self.source);
  archive(self.agent);
  archive.part(self.events);
  archive.list(self.parameters, 3, [&](auto& seen) {
    archive(seen.local, seen.tuple, seen.count);
    if constexpr (Archive::kLoads) archive.require(tuples->has(seen.tuple));
  });
  persist_iterations(archive, self.iterations, sequences);
  saved::TimeDistances times(archive);
  archive.list(self.stages, 4, [&](auto& change) {
    archive.enumerator(change.stage, Stage::exit);
    archive(change.line);
    times.optional(change.time);
    times.optional(change.end);
  });
  archive(self.last_completed, self.last_started);
  times.optional(self.last_completed_time);
  times.optional(self.begin);
  times.optional(self.end);
  times.optional(self.arrival);
  archive(self.last_line, self.timed_last_line, self.tail_line, self.last_completed_line,
          self.lines, self.dropped_iterations, self.counted, self.iterated, self.numbering,
          self.stamped);
  archive.part(self.figures);
  archive.list(self.epochs, 2, [&](auto& epoch) { archive(epoch.from, epoch.before); });
  archive.enumerator(self.reach, wire::Reach::pass);
  persist_iterations(archive, self.beats, sequences);
  archive(self.rounds);
  persist_anchor(archive, self.first_anchor);
  persist_anchor(archive, self.last_anchor);
}

void Stream::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this, nullptr, nullptr);
}

void Stream::load(ByteReader& in, const SequencePool& sequences, const TuplePool& tuples) {
  saved::Reader archive(in);
  *this = Stream();
  persist(archive, *this, &sequences, &tuples);
}

}  // namespace l4::job
