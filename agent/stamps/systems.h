// Scanners of what systems print: epochs, syslog, the kernel's log.
//
// Included by formats.cc alone, which has a row for each function: see scanners.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/stamps/scanners.h"
#include "agent/stamps/worded.h"
#include "agent/text/level.h"

namespace l4::stamps {

/// Parses `host ` before the program; `kernel:` may stand without a host.
inline bool parse_host(text::Cursor& c, std::string_view& host) {
  c.skip_blanks();
  if (c.rest().starts_with("kernel: ")) return true;
  const std::size_t from = c.at;
  while (text::is_host(c.peek()) || c.peek() == '/') ++c.at;
  if (c.at == from || c.peek() != ' ') return false;
  host = c.text.substr(from, c.at - from);
  c.skip_blanks();
  return true;
}

/// Parses the part behind the priority of RFC 5424: `1 time host app procid msgid [data] text`.
inline bool parse_rfc5424(text::Cursor& c, RawStamp& stamp) {
  if (!c.accept("1 ")) return false;
  if (c.accept("- "))
    stamp.timeless = true;
  else if (!parse_iso(c, stamp.civil) || !c.accept(' '))
    return false;
  const auto word = [&] {
    const std::size_t from = c.at;
    while (!c.done() && c.peek() != ' ') ++c.at;
    const std::string_view text = c.text.substr(from, c.at - from);
    c.accept(' ');
    return text;
  };
  if (const std::string_view host = word(); host != "-") stamp.host = host;
  for (int field = 0; field < 3; ++field) word();
  while (c.peek() == '[') {  // data: its values may hold blanks, and brackets with a backslash
    while (!c.done() && c.peek() != ']') c.at += c.peek() == '\\' ? 2 : 1;
    if (!c.accept(']')) return false;
  }
  c.accept("- ");
  c.accept("\xEF\xBB\xBF");
  c.skip_blanks();
  stamp.cut_to = c.at;
  return true;
}

/// Whole seconds look like other numbers: they are a time before a level, and where glog says so.
inline bool take_epoch(text::Cursor& c, RawStamp& stamp) {
  const auto epoch = parse_epoch(c);
  if (!epoch || epoch->coarse) return false;
  if (epoch->whole && !c.rest().starts_with(" (unix time)") && !level_follows(c)) return false;
  stamp.epoch_ms = epoch->ms;
  return true;
}

/// `1795190061.123456 text`, `1795190061123 text`, zap's `1.795190061123456e+09\tINFO`;
/// journalctl's short-unix has a host behind it.
inline bool epoch(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  if (!take_epoch(c, stamp) || !(c.done() || text::is_blank(c.peek()))) return false;
  text::Cursor behind = c;
  if (!parse_program_host(behind, stamp.host)) return finish(line, 0, c.at, stamp);
  stamp.cut_to = behind.at;
  return true;
}

/// Blue Gene's and other clusters' `- 1795190061 2026.11.20 R02-M1 Nov 20 15:54:21 text`, whose
/// first word is the kind of an alert. The epoch tells the time; the day is read for its shape.
inline bool labelled_epoch(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  while (text::is_upper(c.peek()) || c.peek() == '_' || c.peek() == '-') ++c.at;
  if (!c.accept(' ')) return false;
  const std::size_t from = c.at;
  const auto epoch = parse_epoch(c);
  Civil day;
  if (!epoch || !epoch->whole || !c.accept(' ') || !c.parse_number(4, 4, day.year) ||
      !c.accept('.') || !c.parse_number(2, 2, day.month) || !c.accept('.') ||
      !c.parse_number(2, 2, day.day) || !c.accept(' '))
    return false;
  stamp.epoch_ms = epoch->ms;
  stamp.cut_from = from;
  stamp.cut_to = c.at;
  return true;
}

/// UCX's `[1759897476.656360]`.
inline bool bracket_epoch(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line, 1};
  return take_epoch(c, stamp) && c.accept(']') && finish(line, 0, c.at, stamp);
}

/// `Mar  2 15:59:56 host program[pid]: text`.
inline bool syslog(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  if (!parse_month(c, d.month) || !c.accept(' ')) return false;
  c.skip_blanks();
  if (!c.parse_number(1, 2, d.day) || !c.accept(' ') || !parse_clock(c, d)) return false;
  if (!parse_host(c, stamp.host)) return false;
  stamp.cut_to = c.at;
  return true;
}

/// `2024-03-02T15:59:56.123456+00:00 host kernel: text`.
inline bool syslog_iso(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  if (line.size() < 24 || line[10] != 'T' || !parse_iso(c, stamp.civil)) return false;
  if (!stamp.civil.zone_minutes || !parse_program_host(c, stamp.host)) return false;
  stamp.cut_to = c.at;
  return true;
}

/// dmesg: `[12345.678901] text`, `[12345.678901][ T123] text`, and since the line before it `[
/// +0.000844] text`. The stamp gives no time, because the time of boot is unknown.
inline bool uptime(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line, 1};
  c.skip_blanks();
  c.accept('+');
  std::int64_t value = 0;
  if (!c.parse_number(1, 9, value) || !c.accept('.') || !c.parse_number(6, 6, value) ||
      !c.accept(']'))
    return false;
  std::size_t end = c.at;
  c.skip_blanks();
  if (c.accept('[')) {
    c.skip_blanks();
    if ((c.accept('T') || c.accept('C')) && c.parse_number(1, 10, value) && c.accept(']'))
      end = c.at;
  }
  stamp.timeless = true;
  c.at = end;
  // journalctl's short-monotonic prints a host here; drivers print device names in the same way.
  text::Cursor behind = c;
  std::string_view host;
  if (parse_program_host(behind, host) && (behind.rest().starts_with("kernel:") ||
                                           behind.rest().find("]:") < behind.rest().find(": "))) {
    stamp.host = host;
    end = behind.at;
  }
  stamp.cut_to = end;
  while (stamp.cut_to < line.size() && line[stamp.cut_to] == ' ') ++stamp.cut_to;
  return true;
}

/// `<34>Nov 20 ..` (RFC 3164), `<165>1 2026-11-20T..` (RFC 5424), `<3>[12345.678901] text`.
inline bool syslog_priority(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line, 1};
  std::int64_t priority = 0;
  if (!c.parse_number(1, 3, priority) || priority > 191 || !c.accept('>')) return false;
  RawStamp inner;
  if (parse_rfc5424(c, inner)) {
    stamp = inner;
  } else {
    const std::string_view rest = c.rest();
    inner = {};
    if (rest.empty() || !(rest[0] == '[' ? uptime(rest, inner) : syslog(rest, inner))) return false;
    stamp = inner;
    stamp.cut_from = 0;
    stamp.cut_to = inner.cut_to + c.at;
  }
  stamp.level = text::level_of_priority(static_cast<int>(priority & 7));
  return true;
}

/// dmesg -H, once a minute: `[Nov20 15:53] text`, `[Nov 2 15:53] text`.
inline bool dmesg_minute(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line, 1};
  Civil& d = stamp.civil;
  if (!parse_month(c, d.month)) return false;
  c.skip_blanks();
  return c.parse_number(1, 2, d.day) && c.accept(' ') && c.parse_number(2, 2, d.hour) &&
         c.accept(':') && c.parse_number(2, 2, d.minute) && c.accept(']') &&
         finish(line, 0, c.at, stamp);
}

/// `kern  :warn  : 2025-01-21T04:41:44,283302+00:00 text`: dmesg -x, with any of its times.
inline bool dmesg_decoded(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  while (text::is_lower(c.peek())) ++c.at;
  c.skip_blanks();
  if (c.at < 4 || c.at > 10 || !c.accept(':')) return false;
  const std::size_t from = c.at;
  while (text::is_lower(c.peek())) ++c.at;
  const Level level = text::level_of_syslog(line.substr(from, c.at - from));
  c.skip_blanks();
  if (!c.accept(": ")) return false;
  const std::size_t stamp_at = c.at;
  const std::string_view rest = c.rest();
  if (!rest.empty() && rest[0] == '[') {
    if (!uptime(rest, stamp) && !ctime_like(rest, stamp)) return false;
    stamp.cut_to += stamp_at;
  } else if (!text::is_digit(c.peek()) || !parse_iso(c, stamp.civil)) {
    return false;
  } else {
    finish(line, 0, c.at, stamp);
  }
  stamp.cut_from = 0;
  stamp.level = level;
  return true;
}

/// /dev/kmsg: `6,1234,98765432,-;text`.
inline bool kmsg(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  int priority = 0;
  std::int64_t number = 0;
  if (!c.parse_number(1, 3, priority) || !c.accept(',') || !c.parse_number(1, 18, number) ||
      !c.accept(',') || !c.parse_number(1, 18, number) || !c.accept(','))
    return false;
  const std::size_t end = line.substr(0, 64).find(';', c.at);
  if (end == std::string_view::npos) return false;
  stamp.timeless = true;
  stamp.level = text::level_of_priority(priority & 7);
  stamp.cut_to = end + 1;
  return true;
}

}  // namespace l4::stamps
