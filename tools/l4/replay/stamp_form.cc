#include "tools/l4/replay/stamp_form.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/ascii.h"

namespace l4::replay {
namespace {

constexpr std::array<std::string_view, 12> kMonthNames{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDayNames{"Sun", "Mon", "Tue", "Wed",
                                                    "Thu", "Fri", "Sat"};

// Characters of a shape that stand for a class; any other stands for itself. A name has its class
// at its first letter, and two more that always fit.
constexpr char kDigit = '\x01', kMonth = '\x02', kDay = '\x03', kBlankOrDigit = '\x04',
               kHalfDay = '\x05', kInName = '\x06';

template <std::size_t N>
std::optional<int> index_of(const std::array<std::string_view, N>& names, std::string_view text) {
  const auto found = std::ranges::find(names, text.substr(0, 3));
  if (found == names.end()) return std::nullopt;
  return static_cast<int>(found - names.begin());
}

std::int64_t number_in(std::string_view text) {
  std::int64_t value = 0;
  for (const char c : text)
    if (is_digit(c)) value = value * 10 + (c - '0');
  return value;
}

void append_number(std::int64_t value, const Field& field, std::string& out) {
  const std::string digits = std::to_string(value);
  if (field.pad != '\0' && digits.size() < field.width)
    out.append(field.width - digits.size(), field.pad);
  out += digits;
}

/// A number in the digits of `like`, which may have a point among them (`1.795190061`).
void append_epoch(std::int64_t value, std::string_view like, std::string& out) {
  const std::string digits = std::to_string(value);
  if (std::ranges::count_if(like, is_digit) != static_cast<std::ptrdiff_t>(digits.size())) {
    out += digits;
    return;
  }
  std::size_t next = 0;
  for (const char c : like) out += is_digit(c) ? digits[next++] : c;
}

/// Date and time of day of a printed time.
struct Clock {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::seconds> time;

  explicit Clock(Printed printed)
      : date(std::chrono::floor<std::chrono::days>(printed)),
        time(printed - std::chrono::floor<std::chrono::days>(printed)) {}
};

}  // namespace

std::optional<int> month_named(std::string_view text) {
  return index_of(kMonthNames, text);
}

std::optional<int> day_named(std::string_view text) {
  return index_of(kDayNames, text);
}

void fold_digits(std::string_view text, std::string& out) {
  for (const char c : text) out += is_digit(c) ? kDigit : c;
}

bool fits(std::string_view shape, std::string_view text) {
  if (text.size() < shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const char c = text[i];
    switch (shape[i]) {
      case kDigit:
        if (!is_digit(c)) return false;
        break;
      case kMonth:
        if (!month_named(text.substr(i))) return false;
        break;
      case kDay:
        if (!day_named(text.substr(i))) return false;
        break;
      case kBlankOrDigit:
        if (c != ' ' && !is_digit(c)) return false;
        break;
      case kHalfDay:
        if ((c | 0x20) != 'a' && (c | 0x20) != 'p') return false;
        break;
      case kInName:
        break;
      default:
        if (c != shape[i]) return false;
    }
  }
  return true;
}

StampForm::StampForm(std::string_view text, std::vector<Field> fields)
    : fields_(std::move(fields)) {
  fold_digits(text, shape_);
  for (const Field& field : fields_) {
    switch (field.part) {
      case Part::month_name:
      case Part::day_name:
        shape_[field.at] = field.part == Part::month_name ? kMonth : kDay;
        shape_[field.at + 1] = shape_[field.at + 2] = kInName;
        break;
      case Part::half_day:
        shape_[field.at] = kHalfDay;
        break;
      default:
        if (field.pad == ' ') shape_[field.at] = kBlankOrDigit;
    }
  }
}

bool StampForm::has(Part part) const {
  return std::ranges::any_of(fields_, [&](const Field& field) { return field.part == part; });
}

bool StampForm::matches(std::string_view text) const {
  return fits(shape_, text);
}

Printed StampForm::read(std::string_view text, std::chrono::year_month_day day) const {
  int year = static_cast<int>(day.year());
  unsigned month = static_cast<unsigned>(day.month());
  auto month_day = static_cast<std::int64_t>(static_cast<unsigned>(day.day()));
  std::int64_t hour = 0, minute = 0, second = 0;
  std::optional<bool> afternoon;
  for (const Field& field : fields_) {
    const std::string_view part = text.substr(field.at, field.width);
    switch (field.part) {
      case Part::year:
        year = static_cast<int>(number_in(part));
        break;
      case Part::year_of_century:
        year = 2000 + static_cast<int>(number_in(part));
        break;
      case Part::month:
        month = static_cast<unsigned>(number_in(part));
        break;
      case Part::month_name:
        month = static_cast<unsigned>(month_named(part).value_or(0) + 1);
        break;
      case Part::day:
        month_day = number_in(part);
        break;
      case Part::day_name:
        break;
      case Part::hour:
        hour = number_in(part);
        break;
      case Part::half_day:
        afternoon = (part[0] | 0x20) == 'p';
        break;
      case Part::minute:
        minute = number_in(part);
        break;
      case Part::second:
        second = number_in(part);
        break;
      case Part::epoch:
        return Printed{std::chrono::seconds{number_in(part)}};
    }
  }
  if (afternoon && hour <= 12) hour = hour % 12 + (*afternoon ? 12 : 0);
  const std::chrono::sys_days first = std::chrono::year_month_day{
      std::chrono::year{year}, std::chrono::month{std::clamp(month, 1U, 12U)}, std::chrono::day{1}};
  return first + std::chrono::days{month_day - 1} + std::chrono::hours{hour} +
         std::chrono::minutes{minute} + std::chrono::seconds{second};
}

void StampForm::write(std::string_view text, std::chrono::year_month_day day,
                      std::chrono::seconds shift, std::string& out) const {
  const Printed old = read(text, day);
  const Clock clock{old + shift};
  const auto days_on = (std::chrono::floor<std::chrono::days>(old + shift) -
                        std::chrono::floor<std::chrono::days>(old))
                           .count();
  const bool halves = has(Part::half_day);
  std::size_t done = 0;
  for (const Field& field : fields_) {
    out.append(text.substr(done, field.at - done));
    done = field.at + field.width;
    const std::string_view part = text.substr(field.at, field.width);
    const auto hour = clock.time.hours().count();
    switch (field.part) {
      case Part::year:
        append_number(static_cast<int>(clock.date.year()), field, out);
        break;
      case Part::year_of_century:
        append_number(static_cast<int>(clock.date.year()) % 100, field, out);
        break;
      case Part::month:
        append_number(static_cast<unsigned>(clock.date.month()), field, out);
        break;
      case Part::month_name:
        out += kMonthNames[static_cast<unsigned>(clock.date.month()) - 1];
        break;
      case Part::day:
        append_number(static_cast<unsigned>(clock.date.day()), field, out);
        break;
      case Part::day_name:  // moved and not made anew: programs may print a wrong one
        out += kDayNames[static_cast<std::size_t>((day_named(part).value_or(0) + days_on % 7 + 7) %
                                                  7)];
        break;
      case Part::hour:
        append_number(halves ? (hour + 11) % 12 + 1 : hour, field, out);
        break;
      case Part::half_day: {
        const bool lower = (part[0] & 0x20) != 0;
        out += hour >= 12 ? (lower ? 'p' : 'P') : (lower ? 'a' : 'A');
        break;
      }
      case Part::minute:
        append_number(clock.time.minutes().count(), field, out);
        break;
      case Part::second:
        append_number(clock.time.seconds().count(), field, out);
        break;
      case Part::epoch:
        append_epoch((old + shift).time_since_epoch().count(), part, out);
        break;
    }
  }
  out.append(text.substr(done, size() - done));
}

}  // namespace l4::replay
