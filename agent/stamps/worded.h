// Scanners of dates with words, and of times inside a text.
//
// Included by formats.cc alone, which has a row for each function: see scanners.h.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "agent/stamps/scanners.h"
#include "agent/text/level.h"

namespace l4::stamps {

/// `Thu Mar  2 15:59:56 2023`, in brackets from dmesg -T, with AM or PM from date.
inline bool ctime_like(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  const bool bracket = c.accept('[');
  if (!parse_day_name(c)) return false;
  c.skip_blanks();
  Civil& d = stamp.civil;
  if (!parse_month(c, d.month)) return false;
  c.skip_blanks();
  if (!c.parse_number(1, 2, d.day) || !c.accept(' ') || !parse_clock(c, d)) return false;
  parse_half_day(c, d);
  c.skip_blanks();
  if (text::is_upper(c.peek())) {  // zone name: only UTC is certain
    if (c.accept("UTC") || c.accept("GMT")) d.zone_minutes = 0;
    while (text::is_upper(c.peek())) ++c.at;
    c.skip_blanks();
  }
  if (!c.parse_number(4, 4, d.year) || (bracket && !c.accept(']'))) return false;
  return finish(line, 0, c.at, stamp);
}

/// `Fri, 20 Nov 2026 15:54:21 +0000` (RFC 2822), `20 Nov 2026 15:54:21`, `20/Nov/2026:15:54:21`,
/// `Nov 20, 2026 3:54:21 PM`, and journalctl's `Fri 2026-11-20 15:54:21 UTC host program:`.
inline bool date_in_words(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  const bool bracket = c.accept('[');
  if (parse_day_name(c)) {
    c.accept(',');
    if (!c.accept(' ')) return false;
  }
  Civil& d = stamp.civil;
  if (parse_iso(c, d)) {
    if (text::Cursor behind = c; parse_program_host(behind, stamp.host)) {
      stamp.cut_to = behind.at;
      return true;
    }
    return finish(line, 0, c.at, stamp);
  }
  d = {};
  if (parse_month(c, d.month)) {
    if (!c.accept(' ') || !c.parse_number(1, 2, d.day) || !c.accept(", ") ||
        !c.parse_number(4, 4, d.year))
      return false;
  } else {
    if (!c.parse_number(1, 2, d.day)) return false;
    const char between = c.peek();
    if (between != ' ' && between != '/' && between != '-') return false;
    ++c.at;
    if (!parse_month(c, d.month) || !c.accept(between) || !c.parse_number(4, 4, d.year))
      return false;
  }
  if (!(c.accept(' ') || c.accept(':')) || !parse_clock(c, d)) return false;
  parse_half_day(c, d);
  if (c.accept(" GMT")) d.zone_minutes = 0;
  parse_zone(c, d);
  if (bracket && !c.accept(']')) return false;
  return finish(line, 0, c.at, stamp);
}

/// A web server's `10.0.0.3 - - [20/Nov/2026:15:54:21 +0000] "GET ..`; the stamp stays in the text.
inline bool access_log(std::string_view line, RawStamp& stamp) {
  const std::size_t open = line.substr(0, 100).find(" [");
  if (open == std::string_view::npos || !text::contains(line.substr(0, open), " - ")) return false;
  RawStamp inner;
  if (!date_in_words(line.substr(open + 1), inner)) return false;
  stamp.civil = inner.civil;
  return true;
}

/// `:::MLLOG {"namespace": "", "time_ms": 1743201441004, ...`. The number stays: Drain masks it.
inline bool mllog(std::string_view line, RawStamp& stamp) {
  if (!line.starts_with(":::MLL") && !line.starts_with(":::MLP")) return false;
  constexpr std::string_view kKey = "\"time_ms\": ";
  const std::size_t at = line.substr(0, 200).find(kKey);
  if (at == std::string_view::npos) return false;
  text::Cursor c{line, at + kKey.size()};
  std::int64_t value = 0;
  if (!c.parse_number(12, 14, value)) return false;
  stamp.epoch_ms = value;
  return true;
}

/// JSON and logfmt records with the time near the front; the stamp stays in the text.
inline bool keyed(std::string_view line, RawStamp& stamp) {
  static constexpr std::array<std::string_view, 7> kKeys{
      "\"time\"", "\"timestamp\"", "\"@timestamp\"", "\"ts\"", "\"asctime\"", "time=\"", "ts="};
  const std::string_view head = line.substr(0, 200);
  if (line[0] == '{' && !line.starts_with("{\"")) return false;
  for (const auto key : kKeys) {
    const std::size_t at = line[0] == '{' ? head.find(key) : head.starts_with(key) ? 0 : head.npos;
    if (at == std::string_view::npos) continue;
    text::Cursor c{head, at + key.size()};
    c.accept(':');
    c.skip_blanks();
    c.accept('"');
    if (!text::is_digit(c.peek()) || !parse_iso(c, stamp.civil)) continue;
    stamp.level = text::level_of_key(head);
    return true;
  }
  return false;
}

/// True if a number of four digits or more stands before a `-` or `.`. Every fourth character is
/// tested, which finds a digit of any year.
inline bool may_hold_date(std::string_view text) {
  for (std::size_t i = 3; i < text.size(); i += 4) {
    if (!text::is_digit(text[i])) continue;
    std::size_t from = i;
    std::size_t to = i + 1;
    while (from > 0 && text::is_digit(text[from - 1])) --from;
    while (to < text.size() && text::is_digit(text[to])) ++to;
    if (to - from >= 4 && to < text.size() && (text[to] == '-' || text[to] == '.')) return true;
    i = to;
  }
  return false;
}

/// Lines that announce a time: Megatron's `datetime: `, Slurm's `CANCELLED AT `, MLPerf's
/// `STARTING TIMING RUN AT `. The stamp stays in the text.
inline bool spoken(std::string_view line, RawStamp& stamp) {
  static constexpr std::array<std::string_view, 5> kWords{"datetime: ", " AT ",
                                                          " timestamp: ", "_AT=", ","};
  const std::string_view head = line.substr(0, 200);
  if (line[0] == 'R' && !line.starts_with("RESULT,")) return false;
  if (line[0] == 's' && !line.starts_with("slurmstepd") && !line.starts_with("srun:")) return false;
  if (line[0] == 'E' && !line.starts_with("END")) return false;
  if (line[0] == 'S' && !line.starts_with("START")) return false;
  if (head.size() == line.size() && !may_hold_date(line)) return false;
  for (const auto word : kWords) {
    const std::size_t at = word == "," ? head.rfind(word) : head.find(word);
    if (at == std::string_view::npos) continue;
    text::Cursor c{line, at + word.size()};
    c.skip_blanks();
    if (!text::is_digit(c.peek()) || !parse_iso(c, stamp.civil)) continue;
    parse_half_day(c, stamp.civil);
    return true;
  }
  return false;
}

}  // namespace l4::stamps
