// Points in time as milliseconds since the epoch, UTC, and their text.
//
// No function here reads a clock: "now" is an argument everywhere below main (style: the clock
// is a parameter). Thread-safe, no state.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace l4 {

using Millis = std::chrono::milliseconds;
using TimeMs = std::chrono::sys_time<Millis>;

/// Clocks of two zones differ by no less; the writers of one clock by less.
inline constexpr Millis kClockStep = std::chrono::hours{1};

/// RFC 3339 in UTC with milliseconds: 2026-11-20T15:54:42.120Z.
std::string to_rfc3339(TimeMs time);

/// Reads RFC 3339 / ISO 8601 (`T` or blank, optional fraction, `Z` or +hh:mm, no zone means UTC) or
/// seconds since the epoch. Empty if the text has none of these forms.
std::optional<TimeMs> parse_time(std::string_view text);

/// Civil date and time of day to a time point; no range checks beyond chrono's own.
TimeMs from_civil(int year, unsigned month, unsigned day, int hour, int minute, int second,
                  int millis);

/// "3.2 s", "4 min 10 s", "2 h 5 min": for people.
std::string to_human(Millis span);

}  // namespace l4
