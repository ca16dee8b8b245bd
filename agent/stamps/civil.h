// Date and time of day as they are printed, and the parsers that time stamp formats share.
//
// valid() checks ranges; the parsers do not. A parser that fails may leave the cursor and the
// parsed fields anywhere, except parse_iso(), parse_month(), parse_zone() and parse_epoch(), which
// leave the cursor as it was. Pure functions, no allocation.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/text/scan.h"

namespace l4::stamps {

struct Civil {
  int year = 0;  ///< 0 if not printed
  int month = 0, day = 0, hour = 0, minute = 0, second = 0, millis = 0;
  std::optional<int> zone_minutes;
  bool zone_named = false;  ///< the zone is a name, of which the machine's own clock may be meant

  bool valid() const;
  /// True for a date of a year that no log is of: a clock that was never set, a variable's zero.
  bool of_no_log() const;
  bool valid_clock() const;
};

/// Digits behind a decimal sign, as milliseconds.
bool parse_fraction(text::Cursor& cursor, int& millis);
/// hh:mm:ss with an optional fraction after `.` or `,`.
bool parse_clock(text::Cursor& cursor, Civil& civil);
/// Applies ` AM` or ` PM` behind a time of day.
void parse_half_day(text::Cursor& cursor, Civil& civil);
/// `Jan` .. `Dec` as 1 .. 12.
bool parse_month(text::Cursor& cursor, int& month);
/// `Z`, ` UTC`, `+hh`, `+hh:mm`, `+hhmm`, the last two also behind a blank, ` CET` and other names;
/// does nothing without a zone.
void parse_zone(text::Cursor& cursor, Civil& civil);
/// A name such as `CET` or `PST`. False if it is not known; a name that several zones have is
/// taken without an offset.
bool parse_zone_name(text::Cursor& cursor, Civil& civil);
/// YYYY-MM-DD, YYYY.MM.DD or YYYY-Mon-DD and time of day, with the usual separators and zones.
bool parse_iso(text::Cursor& cursor, Civil& civil);

/// A number that counts from 1970.
struct Epoch {
  std::int64_t ms = 0;
  bool whole = false;   ///< seconds without a fraction, which other numbers look like, too
  bool coarse = false;  ///< so few digits that the time is off by minutes or more
};
/// Seconds, milli-, micro- or nanoseconds by the number of digits, also in scientific notation:
/// `1741079553.25`, `1741079553250`, `1.74107955325e+09`. Nothing for times that no log has.
std::optional<Epoch> parse_epoch(text::Cursor& cursor);

}  // namespace l4::stamps
