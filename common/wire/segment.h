// The events of one source between two boundaries.
//
// Place in the flow: filled by agent/segment, shipped in common/wire/batch.h, applied by
// aggregator/job. Plain values; limits of single lists stand at their fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/wire/definitions.h"

namespace l4::wire {

struct EventCount {
  LocalTemplateId id;
  std::uint32_t count = 0;
  std::uint64_t first_line = 0;
  std::optional<TimeMs> first_time;  ///< event time of the first occurrence, if it has one
  bool operator==(const EventCount&) const = default;
};

/// `count` times the same template in a row.
struct Run {
  LocalTemplateId id;
  std::uint32_t count = 0;
  bool operator==(const Run&) const = default;
};

/// Distinct parameter tuple of a speaking template, at most 8 per template and segment.
struct ParameterTuple {
  LocalTemplateId id;
  std::uint32_t count = 0;
  std::vector<Parameter> values;
  bool operator==(const ParameterTuple&) const = default;
};

struct TimerTotal {
  std::uint16_t timer = 0;  ///< index into the agent's timer names
  std::uint32_t count = 0;
  double sum_ms = 0;
  double max_ms = 0;
  bool operator==(const TimerTotal&) const = default;
};

/// How a segment ended: with the line that starts or completes its iteration, or otherwise.
enum class Boundary : std::uint8_t { none, started, completed };

/// How far the iteration of a segment is on the way to the total that its marker prints; of nested
/// counters (an epoch and a step) the outer one decides. `pass`: at the end of an epoch that may be
/// the last.
enum class Reach : std::uint8_t { unknown, before, total, pass };

/// The events of one source between two iteration boundaries (or of one slice or stage).
struct Segment {
  SourceId source;
  Stage stage = Stage::unknown;
  Stage stage_after = Stage::unknown;  ///< the stage that follows if its last line ended `stage`
  std::optional<Iteration> iteration;
  /// Iterations of earlier epochs: lines print `iteration` less this.
  std::int64_t before = 0;
  /// Grows when another marker is taken whose numbers do not continue the former's, which then mean
  /// nothing any more.
  std::uint16_t numbering = 0;
  /// Number of the round of a source that prints times in turn, from its begin on; 0: not known.
  std::uint32_t beat = 0;
  /// Not 0: the segment is part of this one round, since numbers are printed more rarely or not at
  /// all. Grows when rounds begin with another line.
  std::uint16_t rounds = 0;
  bool counted = false;  ///< the agent counted the iteration, no line printed it: never shown
  Boundary boundary = Boundary::none;
  Reach reach = Reach::unknown;
  std::optional<TimeMs> begin, end;  ///< event times, first and last seen
  bool clock_returned = false;       ///< later times of earlier segments were of another clock
  std::optional<TimeMs> arrival_begin, arrival_end;  ///< null offline
  ByteRange bytes;
  LineRange lines;
  std::uint64_t timed_last_line = 0;  ///< last line that printed a time; 0 if none
  std::uint32_t updates = 0;          ///< CR updates of progress bars
  std::vector<EventCount> events;     ///< one per template, in order of first occurrence
  std::vector<Run> order;             ///< at most 4,096 runs
  bool order_cut = false;
  std::vector<ParameterTuple> parameters;
  std::vector<TimerTotal> timers;
  bool operator==(const Segment&) const = default;
};

}  // namespace l4::wire
