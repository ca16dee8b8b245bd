// What an agent tells the aggregator: template definitions, sources, segments, coverage.
//
// Flow: agent/segment fills a Batch, common/wire/codec turns it into Cap'n Proto bytes
// (schemas/batch.capnp) and back, aggregator/receive applies it. Plain values, moved, never shared.
// Bounds: a batch encodes to at most 1 MiB (the sender splits); limits of single lists stand at
// their fields. Local template ids hold for one incarnation of one agent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/base/vocabulary.h"

namespace l4::wire {

/// Half-open byte range of a (decompressed) file.
struct ByteRange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool operator==(const ByteRange&) const = default;
};

/// First and last physical line, from 1, both included; 0,0 if empty.
struct LineRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool operator==(const LineRange&) const = default;
};

enum class SourceKind : std::uint8_t { rank, launcher, merged, kernel, other };

/// One speaker of one file. A file in which several ranks speak gives one source per speaker.
struct SourceDefinition {
  SourceId id;
  std::string path;  ///< relative to the folder given by the user; shared by all its speakers
  std::string node;
  SourceKind kind = SourceKind::other;
  std::optional<Rank> rank;
  RankSource rank_source = RankSource::none;
  std::optional<std::int32_t> local_rank;
  std::int32_t attempt = 0;
  std::optional<TimeMs> modified;  ///< mtime, only if it can be trusted (design.md 6.2)
  bool operator==(const SourceDefinition&) const = default;
};

/// What a rule pack knows about a template; bits of TemplateDefinition::marks.
enum Mark : std::uint8_t {
  kMarkIteration = 1,  ///< prints an iteration number
  kMarkTeardown = 2,   ///< noise of a normal teardown
  kMarkFinished = 4,   ///< says that the job ended well
  kMarkProgress = 8,   ///< proof of progress without a number
};

/// Sent before first use and again when the template generalises (`generation` counts up) or is
/// merged into another (`alias_of`).
struct TemplateDefinition {
  LocalTemplateId id;
  std::uint32_t generation = 0;
  std::string text;  ///< constant words and `<*>`, at most 4 KiB
  Level level = Level::unknown;
  std::uint8_t marks = 0;           ///< Mark bits
  std::vector<Skeleton> skeletons;  ///< the 8 smallest it has absorbed, ascending
  std::optional<LocalTemplateId> alias_of;
  bool operator==(const TemplateDefinition&) const = default;
};

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

enum class ParameterKind : std::uint8_t {
  rank,
  host,
  address,
  device,
  code,
  errno_value,
  signal,
  exit_code,
  path,
  duration_ms,
};

struct Parameter {
  ParameterKind kind = ParameterKind::code;
  std::string value;  ///< at most 128 B
  bool operator==(const Parameter&) const = default;
  auto operator<=>(const Parameter&) const = default;
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

/// Whose time a timer measures: the rank's own work, waiting for others, or both.
enum class TimerKind : std::uint8_t { own, wait, mixed };

struct TimerName {
  std::uint16_t timer = 0;
  std::string name;
  TimerKind kind = TimerKind::own;
  bool operator==(const TimerName&) const = default;
};

/// How a segment ended: with the line that starts or completes its iteration, or otherwise.
enum class Boundary : std::uint8_t { none, started, completed };

/// The events of one source between two iteration boundaries (or of one slice or stage).
struct Segment {
  SourceId source;
  Stage stage = Stage::unknown;
  std::optional<Iteration> iteration;
  bool counted = false;  ///< the iteration was counted here, not printed: no number for people
  Boundary boundary = Boundary::none;
  std::optional<TimeMs> begin, end;                  ///< event times, first and last seen
  std::optional<TimeMs> arrival_begin, arrival_end;  ///< null offline
  ByteRange bytes;
  LineRange lines;
  std::uint64_t timed_last_line = 0;  ///< last line that printed a time; 0 if none
  std::uint32_t updates = 0;          ///< CR updates of progress bars
  std::vector<EventCount> events;    ///< one per template, in order of first occurrence
  std::vector<Run> order;            ///< at most 4,096 runs
  bool order_cut = false;
  std::vector<ParameterTuple> parameters;
  std::vector<TimerTotal> timers;
  bool operator==(const Segment&) const = default;
};

/// Bytes of one file that this batch accounts for (design.md 3, "positions are the sequence").
struct Coverage {
  std::string path;
  ByteRange bytes;
  std::uint64_t lines = 0;
  std::uint64_t bytes_known = 0;  ///< size of the file as far as known
  bool operator==(const Coverage&) const = default;
};

/// Something about the input a user must know: unreadable, binary, cut, lost.
struct Warning {
  std::string kind;
  std::string file;
  std::string reason;
  std::uint64_t bytes = 0;
  bool operator==(const Warning&) const = default;
};

struct Batch {
  std::string agent;  ///< the node's name; key of the connection
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;
  std::vector<SourceDefinition> sources;
  std::vector<TemplateDefinition> templates;
  std::vector<TimerName> timers;
  std::vector<Segment> segments;
  std::vector<Coverage> coverage;
  std::vector<Warning> warnings;
  bool operator==(const Batch&) const = default;
};

}  // namespace l4::wire
