#include "agent/decode/timestamp_formats.h"

#include <algorithm>
#include <array>

#include "agent/decode/level.h"

namespace l4::decode {
namespace {

constexpr std::array<std::string_view, 7> kDays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

/// Behind a stamp: blanks and one separator (`-`, `|`, `:`) that stands apart.
std::size_t skip_separator(std::string_view line, std::size_t at) {
  Cursor c{line, at};
  c.skip_blanks();
  const std::size_t mark = c.at;
  const char sign = c.peek();
  if (sign == '-' || sign == '|' || sign == ':' || sign == ',') {
    ++c.at;
    if (is_blank(c.peek()))
      c.skip_blanks();
    else
      c.at = mark;
  }
  return c.at;
}

bool finish(std::string_view line, std::size_t from, std::size_t to, RawStamp& stamp) {
  stamp.cut_from = from;
  stamp.cut_to = skip_separator(line, to);
  return true;
}

bool iso(std::string_view line, RawStamp& stamp) {
  Cursor c{line};
  return scan_iso(c, stamp.civil) && finish(line, 0, c.at, stamp);
}

/// `2026-11-20 15:58:27,363`: what Python's logging prints.
bool python(std::string_view line, RawStamp& stamp) {
  return line.size() > 23 && line[19] == ',' && line[10] == ' ' && iso(line, stamp);
}

bool bracket_iso(std::string_view line, RawStamp& stamp) {
  Cursor c{line, 1};
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
  Cursor c{line};
  if (line[0] == '[') {
    const std::size_t close = line.substr(0, 64).find(']');
    if (close == std::string_view::npos) return false;
    c.at = close + 1;
  } else {
    while (is_word(c.peek()) || c.peek() == '.') ++c.at;
    if (c.at == 0 || c.at > 32) return false;
    const std::string_view word = line.substr(0, c.at);
    const bool capitals = word.size() <= 8 && std::all_of(word.begin(), word.end(), is_upper);
    if (!capitals && level_of_lower_word(word) == Level::unknown) return false;
  }
  c.take(':');
  c.skip_blanks();
  const std::size_t from = c.at;
  if (!is_digit(c.peek()) || !scan_iso(c, stamp.civil)) return false;
  return finish(line, from, c.at, stamp);
}

/// `11/20/2026 15:53:26`.
bool us_slash(std::string_view line, RawStamp& stamp) {
  Cursor c{line};
  Civil& d = stamp.civil;
  if (!c.take_number(1, 2, d.month) || !c.take('/') || !c.take_number(1, 2, d.day) ||
      !c.take('/') || !c.take_number(4, 4, d.year) || !(c.take(' ') || c.take(", ")))
    return false;
  c.skip_blanks();
  return take_clock(c, d) && finish(line, 0, c.at, stamp);
}

/// `2026/11/20 15:53:26` and Spark's `26/11/20 15:53:26`.
bool slash(std::string_view line, RawStamp& stamp) {
  Cursor c{line};
  Civil& d = stamp.civil;
  if (!c.take_number(2, 4, d.year) || !c.take('/') || !c.take_number(2, 2, d.month) ||
      !c.take('/') || !c.take_number(2, 2, d.day) || !c.take(' ') || !take_clock(c, d))
    return false;
  if (d.year < 100) d.year += 2000;
  return finish(line, 0, c.at, stamp);
}

/// Rich's `[01/02/24 03:04:05]` and `[11/20 15:53:26 name]`.
bool bracket_slash(std::string_view line, RawStamp& stamp) {
  Cursor c{line, 1};
  Civil& d = stamp.civil;
  if (!c.take_number(2, 2, d.month) || !c.take('/') || !c.take_number(2, 2, d.day)) return false;
  if (c.take('/')) {
    if (!c.take_number(2, 4, d.year)) return false;
    if (d.year < 100) d.year += 2000;
  }
  if (!c.take(' ') || !take_clock(c, d)) return false;
  if (c.take(']')) return finish(line, 0, c.at, stamp);
  c.skip_blanks();
  stamp.cut_from = 1;
  stamp.cut_to = c.at;
  return true;
}

/// `I20261120 15:54:09.257628 28907 file.cpp:49]`, without a year `E1218 20:27:21.4264`, with an
/// unpadded day `[W613 02:25:19.600372791 file.cpp:4115]` (c10).
bool glog(std::string_view line, RawStamp& stamp) {
  Cursor c{line};
  const bool bracket = c.take('[');
  const Level level = level_of_letter(c.peek());
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
  if (!c.take(' ') || !take_clock(c, d)) return false;
  c.skip_blanks();
  const std::size_t thread_at = c.at;
  std::int64_t thread = 0;
  if (!c.take_number(1, 18, thread) || !c.take(' ')) c.at = thread_at;
  c.skip_blanks();
  stamp.level = level;
  stamp.cut_from = bracket ? 1 : 0;
  stamp.cut_to = c.at;
  return true;
}

/// `[NeMo W 2024-01-02 03:04:05 file:12]`, `[AUX I 2024-..`.
bool nemo(std::string_view line, RawStamp& stamp) {
  Cursor c{line};
  c.take('[');
  while (is_alpha(c.peek())) ++c.at;
  if (c.at < 3 || c.at > 12 || !c.take(' ')) return false;
  stamp.level = level_of_letter(c.peek());
  ++c.at;
  if (stamp.level == Level::unknown || !c.take(' ')) return false;
  c.skip_blanks();
  const std::size_t from = c.at;
  if (!scan_iso(c, stamp.civil)) return false;
  c.skip_blanks();
  stamp.cut_from = from;
  stamp.cut_to = c.at;
  return true;
}

/// `:::MLLOG {"namespace": "", "time_ms": 1743201441004, ...`. The number stays: Drain masks it.
bool mllog(std::string_view line, RawStamp& stamp) {
  if (!line.starts_with(":::MLL") && !line.starts_with(":::MLP")) return false;
  constexpr std::string_view kKey = "\"time_ms\": ";
  const std::size_t at = line.substr(0, 200).find(kKey);
  if (at == std::string_view::npos) return false;
  Cursor c{line, at + kKey.size()};
  std::int64_t value = 0;
  if (!c.take_number(12, 14, value)) return false;
  stamp.epoch_ms = value;
  return true;
}

/// UCX's `[1759897476.656360]`.
bool bracket_epoch(std::string_view line, RawStamp& stamp) {
  Cursor c{line, 1};
  std::int64_t seconds = 0;
  int millis = 0;
  if (!c.take_number(10, 10, seconds) || seconds < 900'000'000 || !c.take('.') ||
      !take_fraction(c, millis) || !c.take(']'))
    return false;
  stamp.epoch_ms = seconds * 1000 + millis;
  return finish(line, 0, c.at, stamp);
}

/// Ascend: `[WARNING] ME(123:456,Main):2023-01-01-10:00:00.123.456 [file]`, also bare.
bool ascend(std::string_view line, RawStamp& stamp) {
  Cursor c{line};
  if (line[0] == '[') {
    const std::size_t close = line.substr(0, 24).find("] ");
    if (close == std::string_view::npos) return false;
    c.at = close + 2;
    while (is_word(c.peek())) ++c.at;
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
  Cursor c{line};
  Civil& d = stamp.civil;
  if (!c.take_number(4, 4, d.year) || !c.take(':') || !c.take_number(2, 2, d.month) ||
      !c.take(':') || !c.take_number(2, 2, d.day) || !c.take('-') || !take_clock(c, d))
    return false;
  std::int64_t thread = 0;
  if (c.take(":(") && c.take_number(1, 18, thread)) c.take(')');
  return finish(line, 0, c.at, stamp);
}

/// `Thu Mar  2 15:59:56 2023`, in brackets from dmesg -T.
bool ctime_like(std::string_view line, RawStamp& stamp) {
  Cursor c{line};
  const bool bracket = c.take('[');
  bool day = false;
  for (const auto name : kDays) day = day || c.take(name);
  c.skip_blanks();
  Civil& d = stamp.civil;
  if (!day || !take_month(c, d.month)) return false;
  c.skip_blanks();
  if (!c.take_number(1, 2, d.day) || !c.take(' ') || !take_clock(c, d)) return false;
  c.skip_blanks();
  if (is_upper(c.peek())) {  // zone name: only UTC is certain
    if (c.take("UTC")) d.zone_minutes = 0;
    while (is_upper(c.peek())) ++c.at;
    c.skip_blanks();
  }
  if (!c.take_number(4, 4, d.year) || (bracket && !c.take(']'))) return false;
  return finish(line, 0, c.at, stamp);
}

bool take_host(Cursor& c, std::string_view& host) {
  c.skip_blanks();
  const std::size_t from = c.at;
  while (is_host(c.peek()) || c.peek() == '/') ++c.at;
  if (c.at == from || c.peek() != ' ') return false;
  host = c.text.substr(from, c.at - from);
  c.skip_blanks();
  return true;
}

/// `Mar  2 15:59:56 host program[pid]: text`.
bool syslog(std::string_view line, RawStamp& stamp) {
  Cursor c{line};
  Civil& d = stamp.civil;
  if (!take_month(c, d.month) || !c.take(' ')) return false;
  c.skip_blanks();
  if (!c.take_number(1, 2, d.day) || !c.take(' ') || !take_clock(c, d)) return false;
  if (!take_host(c, stamp.host)) return false;
  stamp.cut_to = c.at;
  return true;
}

/// `2024-03-02T15:59:56.123456+00:00 host kernel: text`.
bool syslog_iso(std::string_view line, RawStamp& stamp) {
  Cursor c{line};
  if (line.size() < 24 || line[10] != 'T' || !scan_iso(c, stamp.civil)) return false;
  if (!stamp.civil.zone_minutes || !take_host(c, stamp.host)) return false;
  const std::size_t to = c.at;
  while (is_word(c.peek()) || c.peek() == '-' || c.peek() == '.' || c.peek() == '/') ++c.at;
  if (c.at == to) return false;
  if (c.peek() == '[') {
    std::int64_t pid = 0;
    ++c.at;
    if (!c.take_number(1, 10, pid) || !c.take(']')) return false;
  }
  if (c.peek() != ':' || level_of_word(stamp.host) != Level::unknown) return false;
  stamp.cut_to = to;
  return true;
}

/// `kern  :warn  : 2025-01-21T04:41:44,283302+00:00 text`: dmesg -x.
bool dmesg_decoded(std::string_view line, RawStamp& stamp) {
  Cursor c{line};
  while (is_lower(c.peek())) ++c.at;
  c.skip_blanks();
  if (c.at < 4 || c.at > 10 || !c.take(':')) return false;
  const std::size_t from = c.at;
  while (is_lower(c.peek())) ++c.at;
  const std::string_view word = line.substr(from, c.at - from);
  c.skip_blanks();
  if (!c.take(": ")) return false;
  const std::size_t stamp_at = c.at;
  if (is_digit(c.peek()) && scan_iso(c, stamp.civil)) {
    stamp.level = level_of_syslog(word);
    return finish(line, 0, c.at, stamp);
  }
  c.at = stamp_at;
  return false;
}

/// JSON and logfmt records: the key of the time stands near the front and stays in the text.
bool keyed(std::string_view line, RawStamp& stamp) {
  constexpr std::array<std::string_view, 7> kKeys{
      "\"time\"", "\"timestamp\"", "\"@timestamp\"", "\"ts\"", "\"asctime\"", "time=\"", "ts="};
  const std::string_view head = line.substr(0, 200);
  if (line[0] == '{' && !line.starts_with("{\"")) return false;
  for (const auto key : kKeys) {
    const std::size_t at = line[0] == '{' ? head.find(key) : head.starts_with(key) ? 0 : head.npos;
    if (at == std::string_view::npos) continue;
    Cursor c{head, at + key.size()};
    c.take(':');
    c.skip_blanks();
    c.take('"');
    if (!is_digit(c.peek()) || !scan_iso(c, stamp.civil)) continue;
    stamp.level = level_of_key(head);
    return true;
  }
  return false;
}

/// Lines that say a time in words: Megatron's `datetime: `, Slurm's `CANCELLED AT `, MLPerf's
/// `STARTING TIMING RUN AT `. The text keeps it.
bool spoken(std::string_view line, RawStamp& stamp) {
  constexpr std::array<std::string_view, 5> kWords{"datetime: ", " AT ",
                                                   " timestamp: ", "_AT=", ","};
  const std::string_view head = line.substr(0, 200);
  if (line[0] == 'R' && !line.starts_with("RESULT,")) return false;
  if (line[0] == 's' && !line.starts_with("slurmstepd") && !line.starts_with("srun:")) return false;
  if (line[0] == 'E' && !line.starts_with("END")) return false;
  if (line[0] == 'S' && !line.starts_with("START")) return false;
  for (const auto word : kWords) {
    const std::size_t at = word == "," ? head.rfind(word) : head.find(word);
    if (at == std::string_view::npos) continue;
    Cursor c{line, at + word.size()};
    c.skip_blanks();
    if (!is_digit(c.peek()) || !scan_iso(c, stamp.civil)) continue;
    if (c.take(" PM") && stamp.civil.hour < 12) stamp.civil.hour += 12;
    if (c.take(" AM") && stamp.civil.hour == 12) stamp.civil.hour = 0;
    return true;
  }
  return false;
}

constexpr std::string_view kDigits = "0123456789";

// In this order: a row that is more special stands before one that would take its lines too.
constexpr std::array kFormats{
    StampFormat{"mllog", ":", mllog},
    StampFormat{"python", "12", python},
    StampFormat{"ascend", "[12", ascend},
    StampFormat{"syslog_iso", "12", syslog_iso},
    StampFormat{"iso", "12", iso},
    StampFormat{"bracket_iso", "[(", bracket_iso},
    StampFormat{"nemo", "[", nemo},
    StampFormat{"glog", "[IWEFDVC", glog},
    StampFormat{"tagged_iso", "[TDINWECFtdinwecf", tagged_iso},
    StampFormat{"epoch", "[", bracket_epoch},
    StampFormat{"us_slash", kDigits, us_slash},
    StampFormat{"slash", kDigits, slash},
    StampFormat{"bracket_slash", "[", bracket_slash},
    StampFormat{"one_ccl", "12", one_ccl},
    StampFormat{"ctime", "[MTWFS", ctime_like},
    StampFormat{"syslog", "JFMASOND", syslog},
    StampFormat{"dmesg_decoded", "kusdalnmf", dmesg_decoded},
    StampFormat{"keyed", "{t", keyed},
    StampFormat{"spoken", "[sSER", spoken},
};
static_assert(kFormats.size() <= kStampFormatsMax);

}  // namespace

std::span<const StampFormat> stamp_formats() {
  return kFormats;
}

}  // namespace l4::decode
