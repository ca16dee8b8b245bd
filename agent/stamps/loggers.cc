#include "agent/stamps/scanners.h"

#include <algorithm>
#include <array>

#include "agent/text/level.h"

namespace l4::stamps {
namespace {

/// `INFO`, `TITAN`, `warning`; also none.
bool is_tag(std::string_view word) {
  return (word.size() <= 8 && std::all_of(word.begin(), word.end(), text::is_upper)) ||
         text::level_of_spelled_word(word) != Level::unknown;
}

}  // namespace

bool iso(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  return scan_iso(c, stamp.civil) && finish(line, 0, c.at, stamp);
}

/// `20261120T155421Z`, `20261120 15:54:21.5`, `20261120-155421`.
bool iso_basic(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  if (!c.take_number(4, 4, d.year) || !c.take_number(2, 2, d.month) || !c.take_number(2, 2, d.day))
    return false;
  if (!c.take('T') && !c.take(' ') && !c.take('-') && !c.take('_')) return false;
  const std::size_t clock_at = c.at;
  if (!take_clock(c, d)) {
    c.at = clock_at;
    if (!c.take_number(2, 2, d.hour) || !c.take_number(2, 2, d.minute) ||
        !c.take_number(2, 2, d.second) || text::is_digit(c.peek()))
      return false;
    if ((c.take('.') || c.take(',')) && !take_fraction(c, d.millis)) return false;
  }
  take_zone(c, d);
  return (c.done() || !text::is_word(c.peek())) && finish(line, 0, c.at, stamp);
}

/// `2026-11-20 15:58:27,363`: what Python's logging prints.
bool python(std::string_view line, RawStamp& stamp) {
  return line.size() > 23 && line[19] == ',' && line[10] == ' ' && iso(line, stamp);
}

bool bracket_iso(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line, 1};
  if (line[0] == '(') return false;
  if (!scan_iso(c, stamp.civil)) return false;
  if (c.take(']')) return finish(line, 0, c.at, stamp);
  c.skip_blanks();  // [2026-11-20 15:54:21 rank0 WARNING]
  stamp.cut_from = 1;
  stamp.cut_to = c.at;
  return true;
}

/// `[INFO|trainer.py:1284] 2026-..`, `[titan] 2026-..`, `INFO:2026-..`, `INFO 2026-..`.
bool tagged_iso(std::string_view line, RawStamp& stamp) {
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
  c.take(':');
  c.skip_blanks();
  const std::size_t from = c.at;
  if (!text::is_digit(c.peek()) || !is_tag(word) || !scan_iso(c, stamp.civil)) return false;
  if (line[from - 1] == ':') c.take(':');  // Python's `INFO:time:text`
  return finish(line, from, c.at, stamp);
}

/// `11/20/2026 15:53:26`, also with AM or PM and a year of two digits.
bool us_slash(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  if (!c.take_number(1, 2, d.month) || !c.take('/') || !c.take_number(1, 2, d.day) || !c.take('/'))
    return false;
  const std::size_t year_at = c.at;
  if (!c.take_number(2, 4, d.year) || c.at - year_at == 3) return false;
  if (d.year < 100) d.year += 2000;
  if (!c.take(' ') && !c.take(", ")) return false;
  c.skip_blanks();
  if (!take_clock(c, d)) return false;
  take_half_day(c, d);
  return finish(line, 0, c.at, stamp);
}

/// `2026/11/20 15:53:26` and Spark's `26/11/20 15:53:26`.
bool slash(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  if (!c.take_number(2, 4, d.year) || !c.take('/') || !c.take_number(2, 2, d.month) ||
      !c.take('/') || !c.take_number(2, 2, d.day) || !c.take(' ') || !take_clock(c, d))
    return false;
  if (d.year < 100) d.year += 2000;
  return finish(line, 0, c.at, stamp);
}

/// mmengine's `11/20 15:53:26 - mmengine - INFO - text`: no year.
bool month_slash(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  return c.take_number(2, 2, d.month) && c.take('/') && c.take_number(2, 2, d.day) && c.take(' ') &&
         take_clock(c, d) && finish(line, 0, c.at, stamp);
}

/// Rich's `[01/02/24 03:04:05]`, `[11/20 15:53:26 name]`, `[2026/11/20 15:53:26]`, TensorRT's
/// `[11/20/2026-15:53:26]`.
bool bracket_slash(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line, 1};
  Civil& d = stamp.civil;
  const bool year_first = c.take_number(4, 4, d.year) && c.take('/');
  if (!year_first) c.at = 1;
  if (!c.take_number(2, 2, d.month) || !c.take('/') || !c.take_number(2, 2, d.day)) return false;
  if (!year_first) d.year = 0;
  if (!year_first && c.take('/')) {
    if (!c.take_number(2, 4, d.year)) return false;
    if (d.year < 100) d.year += 2000;
  }
  if (!(c.take(' ') || c.take('-')) || !take_clock(c, d)) return false;
  if (c.take(']')) return finish(line, 0, c.at, stamp);
  c.skip_blanks();
  stamp.cut_from = 1;
  stamp.cut_to = c.at;
  return true;
}

/// `INFO 11-20 15:53:26 [file.py:3]` (vLLM), `[11-20 15:53:26]`, `11-20 15:53:26.123`: no year.
bool month_day(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  const bool bracket = c.take('[');
  if (!bracket && text::is_upper(c.peek())) {
    while (text::is_upper(c.peek())) ++c.at;
    const std::string_view word = line.substr(0, c.at);
    if (!c.take(' ')) return false;
    c.skip_blanks();
    if (!text::is_digit(c.peek())) return false;
    stamp.level = text::level_of_word(word);
    if (stamp.level == Level::unknown) return false;
  }
  const std::size_t from = bracket ? 0 : c.at;
  Civil& d = stamp.civil;
  if (!c.take_number(2, 2, d.month) || !c.take('-') || !c.take_number(2, 2, d.day) ||
      !c.take(' ') || !take_clock(c, d) || (bracket && !c.take(']')))
    return false;
  // Behind it vLLM says where: `[model.py:547] text`, of which the text is the message.
  stamp.origin = stamp.level != Level::unknown;
  return finish(line, from, c.at, stamp);
}

/// `[22:10:00.123]`, `22:10:00`, `[22:10:00 WARNING]`: a time of day. Durations end otherwise.
bool clock_only(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  const bool bracket = c.take('[');
  if (!text::is_digit(line[c.at + 1 < line.size() ? c.at + 1 : 0]) || !take_clock(c, stamp.civil))
    return false;
  stamp.clock_only = true;
  if (bracket && c.take(']')) return finish(line, 0, c.at, stamp);
  if (!bracket) {
    take_half_day(c, stamp.civil);
    return (c.done() || text::is_blank(c.peek())) && finish(line, 0, c.at, stamp);
  }
  if (!c.take(' ') || !text::is_alpha(c.peek())) return false;
  stamp.cut_from = 1;
  stamp.cut_to = c.at;
  return true;
}

/// `I20261120 15:54:09.257628 28907 file.cpp:49]`, without a year `E1218 20:27:21.4264`, with an
/// unpadded day `[W613 02:25:19.600372791 file.cpp:4115]` (c10).
bool glog(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  const bool bracket = c.take('[');
  const Level level = text::level_of_letter(c.peek());
  if (level == Level::unknown) return false;
  ++c.at;
  const std::size_t digits_at = c.at;
  std::int64_t date = 0;
  if (!c.take_number(3, 8, date)) return false;
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
  std::int64_t seconds = 0;
  if (date == 0 && c.take(" 00:00:")) {  // absl before it has read a clock: seconds since the epoch
    if (!c.take_number(10, 10, seconds) || !c.take('.') || !take_fraction(c, d.millis))
      return false;
    stamp.epoch_ms = seconds * 1000 + d.millis;
  } else if (!c.take(' ') || !take_clock(c, d)) {
    return false;
  }
  c.skip_blanks();
  const std::size_t thread_at = c.at;
  std::int64_t thread = 0;
  if (!c.take_number(1, 18, thread) || !c.take(' ')) c.at = thread_at;
  c.skip_blanks();
  stamp.level = level;
  stamp.origin = true;
  stamp.cut_from = bracket ? 1 : 0;
  stamp.cut_to = c.at;
  return true;
}

/// `[NeMo W 2024-01-02 03:04:05 file:12]`, `[AUX I 2024-..`.
bool nemo(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  c.take('[');
  while (text::is_alpha(c.peek())) ++c.at;
  if (c.at < 3 || c.at > 12 || !c.take(' ')) return false;
  stamp.level = text::level_of_letter(c.peek());
  ++c.at;
  if (stamp.level == Level::unknown || !c.take(' ')) return false;
  c.skip_blanks();
  stamp.origin = true;
  const std::size_t from = c.at;
  if (!scan_iso(c, stamp.civil)) return false;
  c.skip_blanks();
  stamp.cut_from = from;
  stamp.cut_to = c.at;
  return true;
}

/// `[I 2026-11-20 15:54:21.123 ServerApp]`, `[W 261120 15:54:21 web:2271]`, `[E 15:54:21 App]`.
bool tornado(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line, 1};
  stamp.level = text::level_of_letter(c.peek());
  ++c.at;
  if (stamp.level == Level::unknown || !c.take(' ')) return false;
  const std::size_t from = c.at;
  Civil& d = stamp.civil;
  if (!scan_iso(c, d)) {
    c.at = from;
    d = {};
    if (c.take_number(2, 2, d.year) && c.take_number(2, 2, d.month) && c.take_number(2, 2, d.day) &&
        c.take(' ')) {
      d.year += 2000;
    } else {
      c.at = from;
      d = {};
      stamp.clock_only = true;
    }
    if (!take_clock(c, d)) return false;
  }
  c.skip_blanks();
  stamp.cut_from = from;
  stamp.cut_to = c.at;
  return true;
}

/// Ascend: `[WARNING] ME(123:456,Main):2023-01-01-10:00:00.123.456 [file]`, also bare.
bool ascend(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  if (line[0] == '[') {
    const std::size_t close = line.substr(0, 24).find("] ");
    if (close == std::string_view::npos) return false;
    c.at = close + 2;
    while (text::is_word(c.peek())) ++c.at;
    const std::size_t end = line.substr(0, 120).find("):", c.at);
    if (c.peek() != '(' || end == std::string_view::npos) return false;
    c.at = end + 2;
  }
  const std::size_t from = c.at;
  if (line.size() < from + 19 || line[from + 10] != '-' || !scan_iso(c, stamp.civil)) return false;
  int micros = 0;
  if (c.peek() == '.') {
    ++c.at;
    take_fraction(c, micros);
  }
  return finish(line, from, c.at, stamp);
}

/// oneCCL: `2024:01:01-10:00:00:(123) |CCL_WARN| text`.
bool one_ccl(std::string_view line, RawStamp& stamp) {
  text::Cursor c{line};
  Civil& d = stamp.civil;
  if (!c.take_number(4, 4, d.year) || !c.take(':') || !c.take_number(2, 2, d.month) ||
      !c.take(':') || !c.take_number(2, 2, d.day) || !c.take('-') || !take_clock(c, d))
    return false;
  std::int64_t thread = 0;
  if (c.take(":(") && c.take_number(1, 18, thread)) c.take(')');
  return finish(line, 0, c.at, stamp);
}

}  // namespace l4::stamps
