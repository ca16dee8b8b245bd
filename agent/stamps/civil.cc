#include "agent/stamps/civil.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include "agent/text/rows_by_first.h"

namespace l4::stamps {
namespace {

constexpr std::array kMonths{
    text::first_three("Jan"), text::first_three("Feb"), text::first_three("Mar"),
    text::first_three("Apr"), text::first_three("May"), text::first_three("Jun"),
    text::first_three("Jul"), text::first_three("Aug"), text::first_three("Sep"),
    text::first_three("Oct"), text::first_three("Nov"), text::first_three("Dec")};

bool is_year_of_logs(int year) {
  return year >= 1990 && year <= 2100;
}

struct ZoneName {
  std::string_view name;
  std::optional<int> minutes;  ///< none: several zones have this name
};

/// Names that `date` and loggers print.
constexpr std::array kZoneNames{
    ZoneName{"UTC", 0},
    ZoneName{"GMT", 0},
    ZoneName{"CET", 60},
    ZoneName{"CEST", 120},
    ZoneName{"EET", 120},
    ZoneName{"EEST", 180},
    ZoneName{"WET", 0},
    ZoneName{"WEST", 60},
    ZoneName{"BST", 60},
    ZoneName{"MSK", 180},
    ZoneName{"PST", -480},
    ZoneName{"PDT", -420},
    ZoneName{"MST", -420},
    ZoneName{"MDT", -360},
    ZoneName{"CST", std::nullopt},
    ZoneName{"CDT", -300},
    ZoneName{"EST", -300},
    ZoneName{"EDT", -240},
    ZoneName{"AKST", -540},
    ZoneName{"AKDT", -480},
    ZoneName{"HST", -600},
    ZoneName{"JST", 540},
    ZoneName{"KST", 540},
    ZoneName{"HKT", 480},
    ZoneName{"SGT", 480},
    ZoneName{"IST", std::nullopt},
    ZoneName{"AEST", 600},
    ZoneName{"AEDT", 660},
    ZoneName{"NZST", 720},
    ZoneName{"NZDT", 780},
};

/// Ten to the power of `exponent`, which is at most 18.
std::int64_t power_of_ten(int exponent) {
  std::int64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

/// The number behind `e`; nothing if there is none, or a larger one than a time can have.
std::optional<int> parse_exponent(text::Cursor& c) {
  text::Cursor behind = c;
  if (!behind.accept('e') && !behind.accept('E')) return std::nullopt;
  if (!behind.accept('+') && behind.peek() == '-') return std::nullopt;
  int exponent = 0;
  if (!behind.parse_number(1, 2, exponent) || exponent > 18) return std::nullopt;
  c = behind;
  return exponent;
}

/// `2026-11-20`, `2026.11.20`, Neuron's `2025-Mar-04`.
bool parse_iso_date(text::Cursor& c, Civil& civil) {
  constexpr std::size_t kUsual = 10, kCentury = 2;
  if (c.at + kUsual <= c.text.size()) {
    const char* const front = c.text.data() + c.at;
    int of_century = 0;
    if (text::is_digit(front[0]) && text::is_digit(front[1]) &&
        text::read_pairs(front + kCentury, '-', of_century, civil.month, civil.day)) {
      civil.year = (front[0] - '0') * 1000 + (front[1] - '0') * 100 + of_century;
      c.at += kUsual;
      return true;
    }
  }
  if (!c.parse_number(4, 4, civil.year)) return false;
  const char sign = c.peek() == '.' ? '.' : '-';
  if (!c.accept(sign)) return false;
  const bool named = text::is_upper(c.peek());
  return (named ? parse_month(c, civil.month) : c.parse_number(2, 2, civil.month)) &&
         c.accept(sign) && c.parse_number(2, 2, civil.day);
}

}  // namespace

bool parse_zone_name(text::Cursor& c, Civil& civil) {
  std::size_t end = c.at;
  while (end < c.text.size() && end < c.at + 5 && text::is_upper(c.text[end])) ++end;
  if (end < c.text.size() && text::is_word(c.text[end])) return false;
  static constexpr text::RowsByFirst kByFirst{kZoneNames, &ZoneName::name};
  const std::span<const ZoneName> rows = kByFirst.of(c.peek());
  const auto known = std::ranges::find(rows, c.text.substr(c.at, end - c.at), &ZoneName::name);
  if (known == rows.end()) return false;
  c.at = end;
  civil.zone_minutes = known->minutes;
  civil.zone_named = known->minutes.value_or(0) != 0;
  return true;
}

std::optional<Epoch> parse_epoch(text::Cursor& cursor) {
  constexpr std::int64_t kFrom = 900'000'000'000, kTo = 2'500'000'000'000;
  constexpr int kDigitsMax = 18;
  text::Cursor c = cursor;
  std::int64_t value = 0;
  int digits = 0;  // kept of the number
  const auto read = [&] {
    for (; text::is_digit(c.peek()); ++c.at)
      if (digits < kDigitsMax) {
        value = value * 10 + (c.peek() - '0');
        ++digits;
      }
  };
  read();
  const auto whole = static_cast<int>(c.at - cursor.at);  // digits before its point
  if (whole == 0 || whole > 19) return std::nullopt;
  if (c.peek() == '.' && c.at + 1 < c.text.size() && text::is_digit(c.text[c.at + 1])) {
    ++c.at;
    read();
  }
  const auto exponent = parse_exponent(c);
  const int size = whole + exponent.value_or(0);  // of the whole number
  if (size != 10 && size != 13 && size != 16 && size != 19) return std::nullopt;
  // `digits` of the number are known, and 13 of a number of milliseconds are wanted.
  Epoch epoch;
  epoch.ms = digits > 13 ? value / power_of_ten(digits - 13) : value * power_of_ten(13 - digits);
  epoch.whole = size == 10 && digits <= 10 && !exponent;
  epoch.coarse = digits < 9;
  if (epoch.ms < kFrom || epoch.ms >= kTo || text::is_word(c.peek())) return std::nullopt;
  cursor = c;
  return epoch;
}

void parse_zone(text::Cursor& c, Civil& civil) {
  if (c.done()) return;
  const std::size_t before = c.at;
  if (c.accept('Z')) {
    civil.zone_minutes = 0;
    return;
  }
  const bool spaced = c.accept(' ');
  if (text::is_upper(c.peek()) && parse_zone_name(c, civil)) return;
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
  constexpr std::size_t kUsual = 8;  // `15:54:21`
  if (c.at + kUsual <= c.text.size() &&
      text::read_pairs(c.text.data() + c.at, ':', civil.hour, civil.minute, civil.second)) {
    c.at += kUsual;
  } else if (!c.parse_number(1, 2, civil.hour) || !c.accept(':') ||
             !c.parse_number(2, 2, civil.minute) || !c.accept(':') ||
             !c.parse_number(2, 2, civil.second)) {
    return false;
  }
  const std::size_t before = c.at;
  if (!c.accept('.') && !c.accept(',')) return true;
  if (!parse_fraction(c, civil.millis)) c.at = before;
  // Ascend's `20.444.436`: the microseconds stand apart.
  int micros = 0;
  if (c.at == before + 4 && c.peek() == '.') {
    text::Cursor behind{c.text, c.at + 1};
    if (behind.parse_number(3, 3, micros) && !text::is_word(behind.peek())) c = behind;
  }
  return true;
}

void parse_half_day(text::Cursor& c, Civil& civil) {
  if (c.peek() != ' ') return;
  if (c.accept(" PM") || c.accept(" pm")) {
    if (civil.hour < 12) civil.hour += 12;
  } else if (c.accept(" AM") || c.accept(" am")) {
    if (civil.hour == 12) civil.hour = 0;
  }
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

bool Civil::of_no_log() const {
  return year > 0 && !is_year_of_logs(year) && month >= 1 && month <= 12 && day >= 1 && day <= 31 &&
         valid_clock();
}

bool Civil::valid() const {
  if (hour > 24 || minute > 59 || second > 60 || month < 1 || month > 12 || day < 1 || day > 31)
    return false;
  if (year == 0) return true;
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  return is_year_of_logs(year) && date.ok();
}

bool parse_iso(text::Cursor& cursor, Civil& civil) {
  text::Cursor c = cursor;
  if (!parse_iso_date(c, civil)) return false;
  const char between = c.peek();
  if (!std::string_view("T _-,;:/@").contains(between)) return false;
  ++c.at;
  if (between == ' ' || between == ',') c.skip_blanks();
  if (!parse_clock(c, civil)) return false;
  parse_half_day(c, civil);
  parse_zone(c, civil);
  cursor.at = c.at;
  return true;
}

}  // namespace l4::stamps
