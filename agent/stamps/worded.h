// Scanners of dates with words, and of times inside a text.
//
// Included by formats.cc alone, which has a row for each function: see scanners.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "agent/stamps/scanners.h"
#include "agent/text/level.h"
#include "agent/text/rows_by_first.h"
#include "common/base/find_bytes.h"

namespace l4::stamps {

/// Skips what stands between a clock and the year: ` PM`, ` CET`.
inline void skip_to_year(text::Cursor& c, Civil& d) {
  parse_half_day(c, d);
  c.skip_blanks();
  if (!text::is_upper(c.peek())) return;
  if (!parse_zone_name(c, d))
    while (text::is_upper(c.peek())) ++c.at;
  c.skip_blanks();
}

/// `Thu Mar  2 15:59:56 2023`, in brackets from dmesg -T, with AM or PM and a zone from date, whose
/// British form is `Thu  2 Mar 15:59:56 GMT 2023`.
inline bool ctime_like(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  const bool bracket = c.accept('[');
  if (!parse_day_name(c)) return false;
  c.skip_blanks();
  Civil& d = stamp.civil;
  const bool day_first = c.parse_number(1, 2, d.day);
  if (day_first && !c.accept(' ')) return false;
  if (!parse_month(c, d.month)) return false;
  c.skip_blanks();
  if ((!day_first && !(c.parse_number(1, 2, d.day) && c.accept(' '))) || !parse_clock(c, d))
    return false;
  skip_to_year(c, d);
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

/// Takes the time behind `"time_ms"` and the like: a date, or a number that counts from 1970.
inline bool take_value(text::Cursor& c, RawStamp& stamp) {
  c.skip_blanks();
  if (c.accept(':') || c.accept('=')) c.skip_blanks();
  const bool quoted = c.accept('"') || c.accept('\'');
  if (!text::is_digit(c.peek())) return false;
  if (parse_iso(c, stamp.civil)) return true;
  stamp.civil = {};
  const auto epoch = parse_epoch(c);
  if (!epoch) return false;
  stamp.epoch_ms = epoch->ms;
  stamp.coarse = epoch->coarse;
  const char behind = c.peek();
  return c.done() || behind == ',' || behind == '}' || behind == (quoted ? '"' : ' ') ||
         (quoted && behind == '\'');
}

/// `:::MLLOG {"namespace": "", "time_ms": 1743201441004, ...`, and before it was JSON
/// `:::MLPv0.5.0 ncf 1541635446.874648 (ncf.py:187) run_stop`. The number stays: Drain masks it.
inline bool mllog(std::string_view line, RawStamp& stamp) {
  if (!line.starts_with(":::MLL") && !line.starts_with(":::MLP")) return false;
  constexpr std::string_view kKey = "\"time_ms\"";
  const std::string_view head = line.substr(0, 200);
  if (const std::size_t at = head.find(kKey); at != head.npos) {
    text::Cursor c{line, at + kKey.size()};
    return take_value(c, stamp);
  }
  for (std::size_t at = head.find_first_of(" ["); at != head.npos;
       at = head.find_first_of(" [", at + 1)) {
    text::Cursor c{line, at + 1};
    const auto epoch = parse_epoch(c);
    if (!epoch || epoch->coarse) continue;
    stamp.epoch_ms = epoch->ms;
    return true;
  }
  return false;
}

struct TimeKey {
  std::string_view text;
};

/// JSON, logfmt and printed dictionaries with the time near the front; the stamp stays in the text.
inline bool keyed(std::string_view line, RawStamp& stamp) {
  static constexpr std::array kKeys{
      TimeKey{"time"},      TimeKey{"timestamp"},    TimeKey{"@timestamp"}, TimeKey{"ts"},
      TimeKey{"time_ms"},   TimeKey{"timestamp_ms"}, TimeKey{"_timestamp"}, TimeKey{"asctime"},
      TimeKey{"wall_time"}, TimeKey{"datetime"},     TimeKey{"date"},
  };
  static constexpr text::RowsByFirst kByFirst{kKeys, &TimeKey::text};
  const std::string_view head = line.substr(0, 200);
  if (line[0] != '{') {
    text::Cursor c{head};
    if ((!c.accept("time=") && !c.accept("ts=")) || !take_value(c, stamp)) return false;
    stamp.level = text::level_of_key(head);
    return true;
  }
  const char quote = line[1];
  if (quote != '"' && quote != '\'') return false;
  // Few lines have such a key, and most keys have this word.
  if (find_phrase(head, "time") == head.npos &&
      find_phrase(head, quote == '"' ? "\"ts\"" : "'ts'") == head.npos &&
      find_phrase(head, quote == '"' ? "\"date\"" : "'date'") == head.npos)
    return false;
  for (std::size_t at = 1; at + 2 < head.size();
       at = std::min(head.find(quote, at + 1), head.size()))
    for (const TimeKey& key : kByFirst.of(head[at + 1])) {
      text::Cursor c{head, at + 1};
      if (!c.accept(key.text) || !c.accept(quote) || !take_value(c, stamp)) continue;
      stamp.level = text::level_of_key(head);
      return true;
    }
  return false;
}

}  // namespace l4::stamps
