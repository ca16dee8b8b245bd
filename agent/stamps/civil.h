// Date and time of day as they are printed, and the parsers that time stamp formats share.
//
// valid() checks ranges; the parsers do not. A parser that fails may leave the cursor and the
// parsed fields anywhere, except parse_iso(), parse_month() and parse_zone(), which leave the
// cursor as it was. Pure functions, no allocation.
#pragma once

#include <optional>

#include "agent/text/scan.h"

namespace l4::stamps {

struct Civil {
  int year = 0;  ///< 0 if not printed
  int month = 0, day = 0, hour = 0, minute = 0, second = 0, millis = 0;
  std::optional<int> zone_minutes;

  bool valid() const;
  bool valid_clock() const;
};

/// Digits behind a decimal sign, as milliseconds.
bool parse_fraction(text::Cursor& cursor, int& millis);
/// hh:mm:ss with an optional fraction after `.` or `,`.
bool parse_clock(text::Cursor& cursor, Civil& civil);
/// `Jan` .. `Dec` as 1 .. 12.
bool parse_month(text::Cursor& cursor, int& month);
/// `Z`, ` UTC`, `+hh`, `+hh:mm`, `+hhmm`, the last two also behind a blank; does nothing without a
/// zone.
void parse_zone(text::Cursor& cursor, Civil& civil);
/// YYYY-MM-DD or YYYY.MM.DD and time of day, with the usual separators and zones.
bool parse_iso(text::Cursor& cursor, Civil& civil);

}  // namespace l4::stamps
