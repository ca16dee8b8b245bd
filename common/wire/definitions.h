// Definitions of a batch, which precede their use: sources, templates, timers, parameters.
//
// Place in the flow: parts of common/wire/batch.h. Plain values. Local template ids hold for one
// incarnation of one agent.
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

/// Why a counter is taken as the iteration marker; bits of Marker::grounds.
enum MarkerGround : std::uint8_t {
  kGroundPack = 1,         ///< a rule pack names it
  kGroundWord = 2,         ///< a word beside the number says what it counts
  kGroundTotal = 4,        ///< its total is printed
  kGroundBar = 8,          ///< a bar shows it
  kGroundEpoch = 16,       ///< an epoch stands beside it
  kGroundMeasured = 32,    ///< a loss, a rate or a time stands beside it
  kGroundEvaluation = 64,  ///< its lines are about an evaluation
  kGroundOtherUnit = 128,  ///< it counts epochs or samples
};

/// The template whose lines tell the iterations of a source.
struct Marker {
  LocalTemplateId id;
  std::uint8_t grounds = 0;   ///< MarkerGround bits
  std::uint8_t standing = 0;  ///< how much speaks for it, from 1; a rule pack's is the greatest
  std::string pack;           ///< name of the rule pack; empty if none names it
  bool operator==(const Marker&) const = default;
};
/// Standing of a marker that a rule pack names.
inline constexpr std::uint8_t kStandingOfPack = 5;

/// The grounds in words: "a number behind a word, with its total; a loss, rate or time beside it".
std::string reason_of(const Marker& marker);

/// One speaker of one file, in one of its runs: each speaker of a file is a source, and each run of
/// the file has its own sources.
struct SourceDefinition {
  SourceId id;
  std::string path;  ///< relative to the folder given by the user; shared by all its speakers
  std::string node;
  SourceKind kind = SourceKind::other;
  std::optional<Rank> rank;
  RankSource rank_source = RankSource::none;
  std::optional<std::int32_t> local_rank;
  std::int32_t attempt = 0;        ///< as its node counts: by the path, or by processes
  std::uint32_t run = 0;           ///< number of the run in its file
  std::optional<TimeMs> modified;  ///< mtime of the file, if this run is its last one
  std::optional<Marker> marker;    ///< empty until one is known
  std::string user;  ///< owner of the file, a number where it has no name; empty: not known
  bool operator==(const SourceDefinition&) const = default;
};

/// Marks that a rule pack gives a template; bits of TemplateDefinition::marks.
enum Mark : std::uint8_t {
  kMarkIteration = 1,   ///< prints an iteration number
  kMarkTeardown = 2,    ///< noise of a normal teardown
  kMarkFinished = 4,    ///< says that the job ended well
  kMarkProgress = 8,    ///< proof of progress without a number
  kMarkAftermath = 16,  ///< printed after something has failed, and never the cause
};

/// A template, sent before its first use and again when it generalises (`generation` counts up) or
/// is merged into another (`alias_of`).
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

/// The time that a timer measures: the rank's own work, waiting for others, or both.
enum class TimerKind : std::uint8_t { own, wait, mixed };

/// The name of a timer that holds all phases of an iteration, in every rule pack.
inline constexpr std::string_view kWholeIteration = "iteration";

struct TimerName {
  std::uint16_t timer = 0;
  std::string name;
  TimerKind kind = TimerKind::own;
  bool learned = false;  ///< no rule pack names it: its values may overlap those of others
  bool operator==(const TimerName&) const = default;
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
  std::string value;    ///< at most 128 B
  bool blamed = false;  ///< the message says that this rank, host or address is at fault
  bool operator==(const Parameter&) const = default;
  auto operator<=>(const Parameter&) const = default;
};

}  // namespace l4::wire
