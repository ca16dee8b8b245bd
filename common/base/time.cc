#include "common/base/time.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace l4 {
namespace {

bool take_number(std::string_view& text, std::size_t digits, int& out) {
  if (text.size() < digits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, out);
  if (error != std::errc{} || end != text.data() + digits) return false;
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

int take_fraction_ms(std::string_view& text) {
  int millis = 0;
  int scale = 100;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    millis += (text.front() - '0') * scale;
    scale /= 10;
    text.remove_prefix(1);
  }
  return millis;
}

std::optional<TimeMs> parse_epoch(std::string_view text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!(seconds >= 0) || seconds > 4e10) return std::nullopt;
  return TimeMs{Millis{std::llround(seconds * 1000.0)}};
}

std::optional<Millis> parse_zone(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") return Millis{0};
  const bool west = text.front() == '-';
  int hours = 0;
  int minutes = 0;
  if (!take(text, "+-") || !take_number(text, 2, hours)) return std::nullopt;
  take(text, ":");
  if (!text.empty() && !take_number(text, 2, minutes)) return std::nullopt;
  if (!text.empty() || hours > 18 || minutes > 59) return std::nullopt;
  const Millis offset = std::chrono::hours{hours} + std::chrono::minutes{minutes};
  return west ? -offset : offset;
}

}  // namespace

TimeMs from_civil(int year, unsigned month, unsigned day, int hour, int minute, int second,
                  int millis) {
  const std::chrono::sys_days date{std::chrono::year{year} / std::chrono::month{month} /
                                   std::chrono::day{day}};
  return TimeMs{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
         std::chrono::seconds{second} + Millis{millis};
}

std::string to_rfc3339(TimeMs time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::optional<TimeMs> parse_time(std::string_view text) {
  const std::string_view whole = text;
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, millis = 0;
  if (!take_number(text, 4, year) || !take(text, "-")) return parse_epoch(whole);
  if (!take_number(text, 2, month) || !take(text, "-") || !take_number(text, 2, day))
    return std::nullopt;
  if (take(text, "T t_")) {
    if (!take_number(text, 2, hour) || !take(text, ":") || !take_number(text, 2, minute))
      return std::nullopt;
    if (take(text, ":") && !take_number(text, 2, second)) return std::nullopt;
    if (take(text, ".,")) millis = take_fraction_ms(text);
  }
  const auto zone = parse_zone(text);
  if (!zone || month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 ||
      second > 60)
    return std::nullopt;
  return from_civil(year, static_cast<unsigned>(month), static_cast<unsigned>(day), hour, minute,
                    second, millis) -
         *zone;
}

std::string to_human(Millis span) {
  const auto ms = span.count();
  if (ms < 0) return "-" + to_human(-span);
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000.0);
  const auto seconds = ms / 1000;
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  const auto minutes = seconds / 60;
  if (minutes < 48 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  return fmt::format("{} d {} h", minutes / 1440, minutes / 60 % 24);
}

}  // namespace l4
