// Stream and EventTable as bytes and back: numbers as differences from what stands beside them.
#include <algorithm>
#include <limits>

#include "aggregator/job/stream.h"

namespace l4::job {
namespace {

/// Times of a stream lie close together: each is written as its distance from the one before.
/// "None" is the number that no distance has.
class TimeWriter {
 public:
  explicit TimeWriter(ByteWriter& out) : out_(out) {}
  void put(TimeMs time) {
    const std::int64_t now = time.time_since_epoch().count();
    // Wraps around rather than overflows: any two times have a distance.
    out_.signed_number(static_cast<std::int64_t>(static_cast<std::uint64_t>(now) -
                                                 static_cast<std::uint64_t>(last_)));
    last_ = now;
  }
  void put(const std::optional<TimeMs>& time) {
    out_.byte(time ? 1 : 0);
    if (time) put(*time);
  }

 private:
  ByteWriter& out_;
  std::int64_t last_ = 0;
};

class TimeReader {
 public:
  explicit TimeReader(ByteReader& in) : in_(in) {}
  TimeMs get() {
    last_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(last_) +
                                      static_cast<std::uint64_t>(in_.signed_number()));
    return TimeMs{Millis{last_}};
  }
  std::optional<TimeMs> get_optional() {
    if (in_.byte() == 0) return std::nullopt;
    return get();
  }

 private:
  ByteReader& in_;
  std::int64_t last_ = 0;
};

Stage load_stage(ByteReader& in) {
  const auto stage = static_cast<Stage>(in.byte());
  if (stage > Stage::exit) in.fail();
  return stage;
}

enum EventFlag : std::uint8_t {
  kExact = 1,
  kFirstTime = 2,
  kLastTime = 4,
  kFirstIteration = 8,
  kLastIteration = 16
};

template <class Slim>
std::uint8_t flag(const Slim& value, unsigned bit) {
  return static_cast<std::uint8_t>(value ? bit : 0);
}

void save_optional(ByteWriter& out, const std::optional<Iteration>& iteration) {
  out.byte(iteration ? 1 : 0);
  if (iteration) out.signed_number(iteration->value());
}

std::optional<Iteration> load_optional(ByteReader& in) {
  if (in.byte() == 0) return std::nullopt;
  return Iteration{in.signed_number()};
}

void save_source(ByteWriter& out, const wire::SourceDefinition& source) {
  out.number(source.id.value());
  out.text(source.path);
  out.text(source.node);
  out.byte(static_cast<std::uint8_t>(source.kind));
  out.signed_number(source.rank ? source.rank->value() : -1);
  out.byte(static_cast<std::uint8_t>(source.rank_source));
  out.signed_number(source.local_rank.value_or(-1));
  out.signed_number(source.attempt);
  out.number(source.run);
  out.byte(source.modified ? 1 : 0);
  if (source.modified) out.signed_number(source.modified->time_since_epoch().count());
}

wire::SourceDefinition load_source(ByteReader& in) {
  wire::SourceDefinition source;
  source.id = SourceId{in.number32()};
  source.path = in.text();
  source.node = in.text();
  source.kind = static_cast<wire::SourceKind>(in.byte());
  if (const auto rank = static_cast<std::int32_t>(in.signed_number()); rank >= 0)
    source.rank = Rank{rank};
  source.rank_source = static_cast<RankSource>(in.byte());
  if (const auto rank = static_cast<std::int32_t>(in.signed_number()); rank >= 0)
    source.local_rank = rank;
  source.attempt = static_cast<std::int32_t>(in.signed_number());
  source.run = in.number32();
  if (in.byte() != 0) source.modified = TimeMs{Millis{in.signed_number()}};
  if (source.kind > wire::SourceKind::other || source.rank_source > RankSource::derived) in.fail();
  return source;
}

enum IterationFlag : std::uint8_t {
  kCompleted = 1,
  kBegin = 2,
  kEnd = 4,
  kSequence = 8,  ///< another one than that of the iteration before
  kTimers = 16,
  kJump = 32  ///< not the number after the one before
};

void save_iterations(ByteWriter& out, const Iterations& iterations) {
  out.number(iterations.size());
  TimeWriter times(out);
  std::int64_t expected = 0;
  SequenceId sequence{0};
  for (const auto& [iteration, record] : iterations) {
    const auto timers = record.timers.packed();
    out.byte(static_cast<std::uint8_t>(
        (record.completed ? kCompleted : 0) | flag(record.begin, kBegin) | flag(record.end, kEnd) |
        (record.sequence != sequence ? kSequence : 0) | (timers.empty() ? 0 : kTimers) |
        (iteration.value() != expected ? kJump : 0)));
    if (iteration.value() != expected) out.signed_number(iteration.value());
    if (record.begin) times.put(*record.begin);
    if (record.end) times.put(*record.end);
    if (record.sequence != sequence) out.number(record.sequence.value());
    if (!timers.empty()) {
      out.number(timers.size());
      out.raw(std::as_bytes(timers));
    }
    sequence = record.sequence;
    expected =
        iteration.value() == std::numeric_limits<std::int64_t>::max() ? 0 : iteration.value() + 1;
  }
}

void load_iterations(ByteReader& in, Iterations& iterations, const SequencePool& sequences) {
  TimeReader times(in);
  std::int64_t expected = 0;
  SequenceId sequence{0};
  for (std::size_t left = in.count(); left > 0 && in.ok(); --left) {
    const std::uint8_t flags = in.byte();
    const std::int64_t number = (flags & kJump) != 0 ? in.signed_number() : expected;
    if (!iterations.empty() && Iteration{number} <= iterations.back().first) return in.fail();
    IterationRecord& record = iterations.emplace_back(Iteration{number}, IterationRecord{}).second;
    record.completed = (flags & kCompleted) != 0;
    if ((flags & kBegin) != 0) record.begin = times.get();
    if ((flags & kEnd) != 0) record.end = times.get();
    if ((flags & kSequence) != 0) sequence = SequenceId{in.number32()};
    record.sequence = sequence;
    if (!sequences.has(sequence)) return in.fail();
    if ((flags & kTimers) != 0) {
      const auto packed = in.raw(in.count());
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(packed.data());  // NOLINT
      if (!record.timers.assign_packed({bytes, packed.size()})) in.fail();
    }
    expected = number == std::numeric_limits<std::int64_t>::max() ? 0 : number + 1;
  }
}

}  // namespace

void EventTable::save(ByteWriter& out) const {
  out.number(entries_.size());
  TimeWriter times(out);
  std::int64_t local = -1;
  for (const Entry& entry : entries_) {
    const EventStats& stats = entry.stats;
    out.byte(static_cast<std::uint8_t>(
        (stats.first_time_exact ? kExact : 0) | flag(stats.first_time, kFirstTime) |
        flag(stats.last_time, kLastTime) | flag(stats.first_iteration, kFirstIteration) |
        flag(stats.last_iteration, kLastIteration)));
    out.byte(static_cast<std::uint8_t>(stats.first_stage));
    out.signed_number(entry.local - (local + 1));
    out.number(stats.count);
    out.number(stats.first_line);
    out.signed_number(static_cast<std::int64_t>(stats.last_line - stats.first_line));
    if (stats.first_time) times.put(*stats.first_time);
    if (stats.last_time) times.put(*stats.last_time);
    if (stats.first_iteration) out.signed_number(stats.first_iteration->value());
    if (stats.last_iteration) out.signed_number(stats.last_iteration->value());
    local = entry.local;
  }
}

void EventTable::load(ByteReader& in) {
  *this = EventTable();
  const std::size_t size = in.count(6);
  entries_.reserve(size);
  places_.reserve(size);
  TimeReader times(in);
  std::int64_t local = -1;
  for (std::uint32_t i = 0; i < size && in.ok(); ++i) {
    const std::uint8_t flags = in.byte();
    Entry& entry = entries_.emplace_back();
    EventStats& stats = entry.stats;
    stats.first_stage = load_stage(in);
    entry.local = static_cast<std::uint32_t>(local + 1 + in.signed_number());
    stats.count = in.number();
    stats.first_line = in.number();
    stats.last_line = stats.first_line + static_cast<std::uint64_t>(in.signed_number());
    stats.first_time_exact = (flags & kExact) != 0;
    if ((flags & kFirstTime) != 0) stats.first_time = times.get();
    if ((flags & kLastTime) != 0) stats.last_time = times.get();
    if ((flags & kFirstIteration) != 0) stats.first_iteration = Iteration{in.signed_number()};
    if ((flags & kLastIteration) != 0) stats.last_iteration = Iteration{in.signed_number()};
    places_.push_back({entry.local, i});
    local = entry.local;
  }
  std::ranges::sort(places_, {}, &Place::local);
}

void Stream::save(ByteWriter& out) const {
  save_source(out, source);
  out.number(agent);
  events.save(out);
  out.number(parameters.size());
  for (const TupleCount& seen : parameters) {
    out.number(seen.local);
    out.number(seen.tuple.value());
    out.number(seen.count);
  }
  save_iterations(out, iterations);
  TimeWriter times(out);
  out.number(stages.size());
  for (const StageChange& change : stages) {
    out.byte(static_cast<std::uint8_t>(change.stage));
    out.number(change.line);
    times.put(change.time);
    times.put(change.end);
  }
  save_optional(out, last_completed);
  save_optional(out, last_started);
  times.put(last_completed_time);
  times.put(begin);
  times.put(end);
  times.put(arrival);
  for (const std::uint64_t value :
       {last_line, timed_last_line, tail_line, last_completed_line, lines, dropped_iterations})
    out.number(value);
  out.byte(counted ? 1 : 0);
}

void Stream::load(ByteReader& in, const SequencePool& sequences, const TuplePool& tuples) {
  *this = Stream();
  source = load_source(in);
  agent = in.number32();
  events.load(in);
  parameters.resize(in.count(3));
  for (TupleCount& seen : parameters) {
    seen.local = in.number32();
    seen.tuple = TupleId{in.number32()};
    seen.count = in.number();
    if (!tuples.has(seen.tuple)) in.fail();
  }
  load_iterations(in, iterations, sequences);
  TimeReader times(in);
  stages.resize(in.count(4));
  for (StageChange& change : stages) {
    change.stage = load_stage(in);
    change.line = in.number();
    change.time = times.get_optional();
    change.end = times.get_optional();
  }
  last_completed = load_optional(in);
  last_started = load_optional(in);
  last_completed_time = times.get_optional();
  begin = times.get_optional();
  end = times.get_optional();
  arrival = times.get_optional();
  for (std::uint64_t* value : {&last_line, &timed_last_line, &tail_line, &last_completed_line,
                               &lines, &dropped_iterations})
    *value = in.number();
  counted = in.byte() != 0;
}

}  // namespace l4::job
