#include "agent/stamps/civil.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace l4::stamps {
namespace {

constexpr std::array kMonths{
    text::first_three("Jan"), text::first_three("Feb"), text::first_three("Mar"),
    text::first_three("Apr"), text::first_three("May"), text::first_three("Jun"),
    text::first_three("Jul"), text::first_three("Aug"), text::first_three("Sep"),
    text::first_three("Oct"), text::first_three("Nov"), text::first_three("Dec")};

}  // namespace

void parse_zone(text::Cursor& c, Civil& civil) {
  if (c.done()) return;
  const std::size_t before = c.at;
  if (c.accept('Z') || c.accept(" UTC")) {
    civil.zone_minutes = 0;
    return;
  }
  const bool spaced = c.accept(' ');
  const bool west = c.peek() == '-';
  int hours = 0;
  int minutes = 0;
  if ((c.accept('+') || c.accept('-')) && c.parse_number(2, 2, hours)) {
    const bool colon = c.accept(':');
    const bool has_minutes = c.parse_number(2, 2, minutes);
    if (hours <= 15 && minutes < 60 && !text::is_digit(c.peek()) &&
        has_minutes >= (colon || spaced)) {
      civil.zone_minutes = (west ? -1 : 1) * (hours * 60 + minutes);
      return;
    }
  }
  c.at = before;
}

bool parse_fraction(text::Cursor& cursor, int& millis) {
  if (!text::is_digit(cursor.peek())) return false;
  int scale = 100;
  millis = 0;
  for (; text::is_digit(cursor.peek()); ++cursor.at, scale /= 10)
    millis += (cursor.peek() - '0') * scale;
  return true;
}

bool parse_clock(text::Cursor& c, Civil& civil) {
  if (!c.parse_number(1, 2, civil.hour) || !c.accept(':') || !c.parse_number(2, 2, civil.minute) ||
      !c.accept(':') || !c.parse_number(2, 2, civil.second))
    return false;
  const std::size_t before = c.at;
  if ((c.accept('.') || c.accept(',')) && !parse_fraction(c, civil.millis)) c.at = before;
  return true;
}

bool parse_month(text::Cursor& c, int& month) {
  const auto found = std::find(kMonths.begin(), kMonths.end(), text::first_three(c.rest()));
  if (found == kMonths.end()) return false;
  month = static_cast<int>(found - kMonths.begin()) + 1;
  c.at += 3;
  return true;
}

bool Civil::valid_clock() const {
  return hour < 24 && minute < 60 && second <= 60;
}

bool Civil::valid() const {
  if (hour > 24 || minute > 59 || second > 60 || month < 1 || month > 12 || day < 1 || day > 31)
    return false;
  if (year == 0) return true;
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  return year >= 1990 && year <= 2100 && date.ok();
}

bool parse_iso(text::Cursor& cursor, Civil& civil) {
  text::Cursor c = cursor;
  if (!c.parse_number(4, 4, civil.year)) return false;
  const char sign = c.peek() == '.' ? '.' : '-';
  if (!c.accept(sign) || !c.parse_number(2, 2, civil.month) || !c.accept(sign) ||
      !c.parse_number(2, 2, civil.day))
    return false;
  const char between = c.peek();
  if (between != 'T' && between != ' ' && between != '_' && between != '-') return false;
  ++c.at;
  if (between == ' ') c.skip_blanks();
  if (!parse_clock(c, civil)) return false;
  parse_zone(c, civil);
  cursor.at = c.at;
  return true;
}

}  // namespace l4::stamps
