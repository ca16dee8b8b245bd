// Reads the time stamp of a line, with a format that it learns for each source.
//
// The first characters of a line leave a few rows of the table (formats.h). The row that matched
// last among the same candidates, for a line of the same shape, is tried first, then each in turn,
// and at last the search for a time inside the text (spoken.h). A stamp without a year takes the
// year in which it is nearest to the last full stamp of the source, else the latest that agrees
// with the hint, else the line has no time. The same holds for a stamp without a date. Local times
// are shifted by the zone. A time far from all others is left out (far_times.h). One reader per
// file, one thread, no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/stamps/far_times.h"
#include "agent/stamps/formats.h"
#include "common/base/time.h"

namespace l4::stamps {

/// What is known of the times of a source before the first is read.
struct Clock {
  Millis zone{0};                        ///< of stamps that print none
  std::optional<TimeMs> year_hint = {};  ///< completes stamps without a year or a date
  std::optional<TimeMs> usual = {};      ///< stamps far from it are left out
  bool doubts = true;  ///< false: no stamp is left out, however far from the others
};

struct Stamp {
  std::optional<TimeMs> time;            ///< empty if it cannot be known, or is not believed
  std::size_t cut_from = 0, cut_to = 0;  ///< the stamp's range in the line
  Level level = Level::unknown;          ///< set if the stamp carries it (glog's letter)
  std::string_view host;                 ///< syslog names it beside the time
  bool origin = false;                   ///< source file and line stand before the message
};

class TimestampReader {
 public:
  explicit TimestampReader(Clock clock);

  /// `may_speak`: two colons may stand in the line as in a clock; without, no time is searched for
  /// inside the text.
  std::optional<Stamp> read(std::string_view line, bool may_speak = true);
  /// The time of a stamp in a field of the line; `kind` is the notation of the line.
  enum class Fields : std::uint8_t { json, logfmt };
  std::optional<TimeMs> resolve_field(const RawStamp& raw, Fields kind);
  /// The format of most stamps so far; "none" before the first.
  std::string_view format() const;

 private:
  std::optional<Stamp> read_spoken(std::string_view line);
  std::optional<Stamp> resolve(const RawStamp& raw, std::size_t row);
  std::optional<TimeMs> time_of(const RawStamp& raw);
  std::optional<TimeMs> time_of_day(const Civil& civil);
  std::optional<TimeMs> time_of_year(const Civil& civil, Millis zone);
  Millis zone_of(const Civil& civil) const;
  bool is_valid(const Civil& civil);
  void put_in_order(Civil& civil);
  std::optional<TimeMs> note(TimeMs time);

  Millis zone_;
  /// The last date, which is valid and mostly that of the next line too.
  struct Day {
    int year = -1, month = 0, day = 0;
    TimeMs begin{};
    bool is_of(const Civil& c) const { return c.day == day && c.month == month && c.year == year; }
  };
  Day day_;
  std::optional<TimeMs> near_;  // completes stamps without a year or a date
  bool near_is_hint_ = true;    // near_ was not printed
  bool doubts_;
  bool day_first_ = false;  // dates in figures have their day before the month
  FarTimes far_;
  std::array<std::uint8_t, 128> learned_{};  // row that matched last, by candidates and shape
  std::array<std::uint64_t, kStampFormatsMax + 2> hits_{};  // by row, then json, logfmt
};

}  // namespace l4::stamps
