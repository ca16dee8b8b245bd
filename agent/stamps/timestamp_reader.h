// Reads the time stamp of a line by a format that is learned per source.
//
// Of the rows of kStampFormats (formats.h) that may fit by their first characters, that
// one is tried first which hit last where the same ones came into question, then each in turn.
// Years that are not printed come from the last full stamp of the source, else from the hint, else
// the line has no time; so do dates, of which the first is the last that agrees with the hint.
// Local times are shifted by the zone. One reader per file, one thread, no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/stamps/formats.h"
#include "common/base/time.h"

namespace l4::stamps {

struct Stamp {
  std::optional<TimeMs> time;            ///< empty if the year cannot be known
  std::size_t cut_from = 0, cut_to = 0;  ///< part of the line that is stamp, not message
  Level level = Level::unknown;          ///< if the stamp carries it (glog's letter)
  std::string_view host;                 ///< syslog names it beside the time
  bool origin = false;                   ///< where it was said stands before the message
};

class TimestampReader {
 public:
  TimestampReader(Millis zone, std::optional<TimeMs> year_hint);

  std::optional<Stamp> read(std::string_view line);
  /// A stamp that a field of the line held; `kind` is how the line was written.
  enum class Fields : std::uint8_t { json, logfmt };
  std::optional<TimeMs> resolve_field(const RawStamp& raw, Fields kind);
  /// Format of most stamps so far, "none" before the first.
  std::string_view format() const;

 private:
  std::optional<Stamp> resolve(const RawStamp& raw, std::size_t row);
  std::optional<TimeMs> time_of(const RawStamp& raw);
  std::optional<TimeMs> time_of_day(const Civil& civil);

  Millis zone_;
  std::optional<TimeMs> near_;              // for stamps without a year or a date
  bool near_is_hint_ = true;                // not a time that was printed
  std::array<std::uint8_t, 64> learned_{};  // row, by hash of those that came into question
  std::array<std::uint64_t, kStampFormatsMax + 2> hits_{};  // by row, then json, logfmt
};

}  // namespace l4::stamps
