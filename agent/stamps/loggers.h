// Scanners of stamps that one logger alone prints: glog, NeMo, Tornado, Ascend, oneCCL.
//
// Included by formats.cc alone, which has a row for each function: see scanners.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/stamps/scanners.h"
#include "agent/text/level.h"

namespace l4::stamps {

/// `I20261120 15:54:09.257628 28907 file.cpp:49]`, without a year `E1218 20:27:21.4264`, with an
/// unpadded day `[W613 02:25:19.600372791 file.cpp:4115]` (c10).
inline bool glog(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  const bool bracket = c.accept('[');
  const Level level = text::level_of_letter(c.peek());
  if (level == Level::unknown) return false;
  ++c.at;
  const std::size_t digits_at = c.at;
  std::int64_t date = 0;
  if (!c.parse_number(3, 8, date)) return false;
  const std::size_t digits = c.at - digits_at;
  Civil& d = stamp.civil;
  if (digits == 8) {
    d.year = static_cast<int>(date / 10000);
    date %= 10000;
  } else if (digits > 4) {
    return false;
  }
  d.month = static_cast<int>(date / 100);
  d.day = static_cast<int>(date % 100);
  if (date == 0 && c.accept(" 00:00:")) {  // absl before it has read a clock: seconds since 1970
    const auto epoch = parse_epoch(c);
    if (!epoch) return false;
    stamp.epoch_ms = epoch->ms;
  } else if (!c.accept(' ') || !parse_clock(c, d)) {
    return false;
  }
  c.skip_blanks();
  const std::size_t thread_at = c.at;
  std::int64_t thread = 0;
  if (!c.parse_number(1, 18, thread) || !c.accept(' ')) c.at = thread_at;
  c.skip_blanks();
  stamp.level = level;
  stamp.origin = true;
  stamp.cut_from = bracket ? 1 : 0;
  stamp.cut_to = c.at;
  return true;
}

/// `[NeMo W 2024-01-02 03:04:05 file:12]`, `[AUX I 2024-..`.
inline bool nemo(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  c.accept('[');
  while (text::is_alpha(c.peek())) ++c.at;
  if (c.at < 3 || c.at > 12 || !c.accept(' ')) return false;
  stamp.level = text::level_of_letter(c.peek());
  ++c.at;
  if (stamp.level == Level::unknown || !c.accept(' ')) return false;
  c.skip_blanks();
  stamp.origin = true;
  const std::size_t from = c.at;
  if (!parse_iso(c, stamp.civil)) return false;
  c.skip_blanks();
  stamp.cut_from = from;
  stamp.cut_to = c.at;
  return true;
}

/// `[I 2026-11-20 15:54:21.123 ServerApp]`, `[W 261120 15:54:21 web:2271]`, `[E 15:54:21 App]`.
inline bool tornado(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line, 1};
  stamp.level = text::level_of_letter(c.peek());
  ++c.at;
  if (stamp.level == Level::unknown || !c.accept(' ')) return false;
  const std::size_t from = c.at;
  Civil& d = stamp.civil;
  if (!parse_iso(c, d)) {
    c.at = from;
    d = {};
    if (c.parse_number(2, 2, d.year) && c.parse_number(2, 2, d.month) &&
        c.parse_number(2, 2, d.day) && c.accept(' ')) {
      d.year += 2000;
    } else {
      c.at = from;
      d = {};
      stamp.clock_only = true;
    }
    if (!parse_clock(c, d)) return false;
  }
  c.skip_blanks();
  stamp.cut_from = from;
  stamp.cut_to = c.at;
  return true;
}

/// Ascend: `[WARNING] ME(123:456,Main):2023-01-01-10:00:00.123.456 [file]`, also bare, and an error
/// behind its code: `EI0006: [PID: 4711] 2023-01-01-10:00:00.123.456 text`.
inline bool ascend(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  std::int64_t number = 0;
  if (line[0] == 'E') {
    ++c.at;
    if (!text::is_upper(c.peek())) return false;
    ++c.at;
    if (!c.parse_number(4, 4, number) || !c.accept(": [PID: ") || !c.parse_number(1, 9, number) ||
        !c.accept("] "))
      return false;
  } else if (line[0] == '[') {
    const std::size_t close = line.substr(0, 24).find("] ");
    if (close == std::string_view::npos) return false;
    c.at = close + 2;
    while (text::is_word(c.peek())) ++c.at;
    const std::size_t end = line.substr(0, 120).find("):", c.at);
    if (c.peek() != '(' || end == std::string_view::npos) return false;
    c.at = end + 2;
  }
  const std::size_t from = c.at;
  if (line.size() < from + 19 || line[from + 10] != '-' || !parse_iso(c, stamp.civil)) return false;
  return finish(line, from, c.at, stamp);
}

/// oneCCL: `2024:01:01-10:00:00:(123) |CCL_WARN| text`.
inline bool one_ccl(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  if (!c.parse_number(4, 4, d.year) || !c.accept(':') || !c.parse_number(2, 2, d.month) ||
      !c.accept(':') || !c.parse_number(2, 2, d.day) || !c.accept('-') || !parse_clock(c, d))
    return false;
  std::int64_t thread = 0;
  if (c.accept(":(") && c.parse_number(1, 18, thread)) c.accept(')');
  return finish(line, 0, c.at, stamp);
}

}  // namespace l4::stamps
