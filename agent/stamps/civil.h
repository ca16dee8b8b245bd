// Date and time of day as they are printed, and the readers that time stamp formats share.
//
// Each parse_* moves the cursor only as far as it understood; ranges are checked by valid(), not
// while reading. Pure functions, no allocation.
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

/// Digits after a decimal sign, to milliseconds.
bool parse_fraction(text::Cursor& cursor, int& millis);
/// hh:mm:ss with an optional fraction after `.` or `,`.
bool parse_clock(text::Cursor& cursor, Civil& civil);
/// `Jan` .. `Dec` as 1 .. 12.
bool parse_month(text::Cursor& cursor, int& month);
/// `Z`, ` UTC`, `+hh`, `+hh:mm`, `+hhmm`, the last two also after a blank; nothing if there is
/// none.
void parse_zone(text::Cursor& cursor, Civil& civil);
/// YYYY-MM-DD or YYYY.MM.DD and time of day, with the usual separators and zones.
bool parse_iso(text::Cursor& cursor, Civil& civil);

}  // namespace l4::stamps
