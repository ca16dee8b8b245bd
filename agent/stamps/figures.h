// Scanners of dates and times in figures, as most loggers print them.
//
// Included by formats.cc alone, which has a row for each function: see scanners.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "agent/stamps/scanners.h"
#include "agent/text/level.h"

namespace l4::stamps {

/// True for a word like `INFO`, `TITAN` or `warning`, and for an empty text.
inline bool is_tag(std::string_view word) {
  return (word.size() <= 8 && std::all_of(word.begin(), word.end(), text::is_upper)) ||
         text::level_of_spelled_word(word) != Level::unknown;
}

inline bool iso(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  return parse_iso(c, stamp.civil) && finish(line, 0, c.at, stamp);
}

/// `20261120T155421Z`, `20261120 15:54:21.5`, `20261120-155421`.
inline bool iso_basic(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  if (!c.parse_number(4, 4, d.year) || !c.parse_number(2, 2, d.month) ||
      !c.parse_number(2, 2, d.day))
    return false;
  if (!c.accept('T') && !c.accept(' ') && !c.accept('-') && !c.accept('_')) return false;
  const std::size_t clock_at = c.at;
  if (!parse_clock(c, d)) {
    c.at = clock_at;
    if (!c.parse_number(2, 2, d.hour) || !c.parse_number(2, 2, d.minute) ||
        !c.parse_number(2, 2, d.second) || text::is_digit(c.peek()))
      return false;
    if ((c.accept('.') || c.accept(',')) && !parse_fraction(c, d.millis)) return false;
  }
  parse_zone(c, d);
  return (c.done() || !text::is_word(c.peek())) && finish(line, 0, c.at, stamp);
}

/// `2026-11-20 15:58:27,363`: what Python's logging prints.
inline bool python(std::string_view line, RawStamp& stamp) {
  return line.size() > 23 && line[19] == ',' && line[10] == ' ' && iso(line, stamp);
}

inline bool bracket_iso(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line, 1};
  if (line[0] == '(') return false;
  if (!parse_iso(c, stamp.civil)) return false;
  if (c.accept(']')) return finish(line, 0, c.at, stamp);
  c.skip_blanks();  // [2026-11-20 15:54:21 rank0 WARNING]
  stamp.cut_from = 1;
  stamp.cut_to = c.at;
  return true;
}

/// `[INFO|trainer.py:1284] 2026-..`, `[titan] 2026-..`, `INFO:2026-..`, `INFO 2026-..`.
inline bool tagged_iso(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  std::string_view word;
  if (line[0] == '[') {
    const std::size_t close = line.substr(0, 64).find(']');
    if (close == std::string_view::npos) return false;
    c.at = close + 1;
  } else {
    while (text::is_word(c.peek()) || c.peek() == '.') ++c.at;
    if (c.at == 0 || c.at > 32) return false;
    word = line.substr(0, c.at);
  }
  c.accept(':');
  c.skip_blanks();
  const std::size_t from = c.at;
  if (!text::is_digit(c.peek()) || !is_tag(word) || !parse_iso(c, stamp.civil)) return false;
  if (line[from - 1] == ':') c.accept(':');  // Python's `INFO:time:text`
  return finish(line, from, c.at, stamp);
}

/// `11/20/2026 15:53:26`, also with AM or PM and a year of two digits, `20/11/2026 15:53:26`.
inline bool us_slash(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  if (!c.parse_number(1, 2, d.month) || !c.accept('/') || !c.parse_number(1, 2, d.day) ||
      !c.accept('/'))
    return false;
  const std::size_t year_at = c.at;
  if (!c.parse_number(2, 4, d.year) || c.at - year_at == 3) return false;
  const bool century = c.at - year_at == 4;  // otherwise it may be the day, as Spark prints it
  if (d.year < 100) d.year += 2000;
  if (!c.accept(' ') && !c.accept(", ")) return false;
  c.skip_blanks();
  if (!parse_clock(c, d)) return false;
  parse_half_day(c, d);
  stamp.either_first = century;
  return finish(line, 0, c.at, stamp);
}

/// `20.11.2026 15:53:26`, the day first, and `20-11-2026 15:53:26`, where the month may be.
inline bool year_last(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  int first = 0, second = 0;
  if (!c.parse_number(2, 2, first)) return false;
  const char sign = c.peek();
  if ((sign != '.' && sign != '-') || !c.accept(sign) || !c.parse_number(2, 2, second) ||
      !c.accept(sign) || !c.parse_number(4, 4, d.year))
    return false;
  d.month = sign == '.' ? second : first;
  d.day = sign == '.' ? first : second;
  if (!c.accept(", ") && !c.accept(" - ") && !c.accept(' ') && !c.accept(sign)) return false;
  c.skip_blanks();
  if (!parse_clock(c, d)) return false;
  parse_zone(c, d);
  stamp.either_first = sign == '-';
  return finish(line, 0, c.at, stamp);
}

/// `2026/11/20 15:53:26`, `2026/11/20-15:53:26`, Gin's `2026/11/20 - 15:53:26` and Spark's
/// `26/11/20 15:53:26`.
inline bool slash(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  if (!c.parse_number(2, 4, d.year) || !c.accept('/') || !c.parse_number(2, 2, d.month) ||
      !c.accept('/') || !c.parse_number(2, 2, d.day) ||
      !(c.accept(" - ") || c.accept(' ') || c.accept('-') || c.accept('T')) || !parse_clock(c, d))
    return false;
  if (d.year < 100) d.year += 2000;
  parse_zone(c, d);
  return finish(line, 0, c.at, stamp);
}

/// Hadoop's `261120 155326 148 INFO text`.
inline bool six_digits(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  std::int64_t thread = 0;
  if (!c.parse_number(2, 2, d.year) || !c.parse_number(2, 2, d.month) ||
      !c.parse_number(2, 2, d.day) || !c.accept(' ') || !c.parse_number(2, 2, d.hour) ||
      !c.parse_number(2, 2, d.minute) || !c.parse_number(2, 2, d.second) || !c.accept(' '))
    return false;
  const std::size_t end = c.at;
  if (c.parse_number(1, 9, thread) && !c.accept(' ')) return false;
  if (!level_follows(c)) return false;
  d.year += 2000;
  return finish(line, 0, end - 1, stamp);
}

/// tensorpack's `[1120 15:53:26 @base.py:3] text`: no year.
inline bool bracket_month_day(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line, 1};
  Civil& d = stamp.civil;
  if (!c.parse_number(2, 2, d.month) || !c.parse_number(2, 2, d.day) || !c.accept(' ') ||
      !parse_clock(c, d) || !c.accept(" @"))
    return false;
  stamp.cut_from = 1;
  stamp.cut_to = c.at - 1;
  return true;
}

/// mmengine's `11/20 15:53:26 - mmengine - INFO - text`: no year.
inline bool month_slash(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  return c.parse_number(2, 2, d.month) && c.accept('/') && c.parse_number(2, 2, d.day) &&
         c.accept(' ') && parse_clock(c, d) && finish(line, 0, c.at, stamp);
}

/// Rich's `[01/02/24 03:04:05]`, `[11/20 15:53:26 name]`, `[2026/11/20 15:53:26]`, TensorRT's
/// `[11/20/2026-15:53:26]`.
inline bool bracket_slash(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line, 1};
  Civil& d = stamp.civil;
  const bool year_first = c.parse_number(4, 4, d.year) && c.accept('/');
  if (!year_first) c.at = 1;
  if (!c.parse_number(2, 2, d.month) || !c.accept('/') || !c.parse_number(2, 2, d.day))
    return false;
  if (!year_first) d.year = 0;
  if (!year_first && c.accept('/')) {
    if (!c.parse_number(2, 4, d.year)) return false;
    if (d.year < 100) d.year += 2000;
  }
  if (!(c.accept(' ') || c.accept('-')) || !parse_clock(c, d)) return false;
  stamp.either_first = d.year != 0 && !year_first;
  if (c.accept(']')) return finish(line, 0, c.at, stamp);
  c.skip_blanks();
  stamp.cut_from = 1;
  stamp.cut_to = c.at;
  return true;
}

/// `INFO 11-20 15:53:26 [file.py:3]` (vLLM), `[11-20 15:53:26]`, `11-20 15:53:26.123`: no year.
inline bool month_day(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  const bool bracket = c.accept('[');
  if (!bracket && text::is_upper(c.peek())) {
    while (text::is_upper(c.peek())) ++c.at;
    const std::string_view word = line.substr(0, c.at);
    if (!c.accept(' ')) return false;
    c.skip_blanks();
    if (!text::is_digit(c.peek())) return false;
    stamp.level = text::level_of_word(word);
    if (stamp.level == Level::unknown) return false;
  }
  const std::size_t from = bracket ? 0 : c.at;
  Civil& d = stamp.civil;
  if (!c.parse_number(2, 2, d.month) || !c.accept('-') || !c.parse_number(2, 2, d.day) ||
      !c.accept(' ') || !parse_clock(c, d) || (bracket && !c.accept(']')))
    return false;
  // vLLM prints the source line behind the stamp: `[model.py:547] text`.
  stamp.origin = stamp.level != Level::unknown;
  return finish(line, from, c.at, stamp);
}

/// `[22:10:00.123]`, `22:10:00`, `[22:10:00 WARNING]`: a time of day. Durations end differently.
inline bool clock_only(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  const bool bracket = c.accept('[');
  if (!text::is_digit(line[c.at + 1 < line.size() ? c.at + 1 : 0]) || !parse_clock(c, stamp.civil))
    return false;
  stamp.clock_only = true;
  if (bracket && c.accept(']')) return finish(line, 0, c.at, stamp);
  if (!bracket) {
    parse_half_day(c, stamp.civil);
    return (c.done() || text::is_blank(c.peek())) && finish(line, 0, c.at, stamp);
  }
  if (!c.accept(' ') || !text::is_alpha(c.peek())) return false;
  stamp.cut_from = 1;
  stamp.cut_to = c.at;
  return true;
}

}  // namespace l4::stamps
