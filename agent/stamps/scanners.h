// The scanners behind the table of formats.cc: one for each way to print a time.
//
// Each reads the front of a line into a RawStamp or gives up; `line` is never empty and begins with
// a character that its row names. Ranges are checked later, by Civil::valid(). Pure functions, no
// allocation; they stand in three sources by who prints such stamps.
#pragma once

#include <string_view>

#include "agent/stamps/formats.h"

namespace l4::stamps {

// What all share.
/// Behind a stamp: one separator (`-`, `|`, `:`) that stands apart, and one blank. Further blanks
/// may be the indentation of the text.
inline std::size_t skip_separator(std::string_view line, std::size_t at) {
  text::Cursor c{line, at};
  c.skip_blanks();
  const char sign = c.peek();
  if (sign == '-' || sign == '|' || sign == ':' || sign == ',') {
    ++c.at;
    if (c.take(' ') || c.take('\t')) return c.at;
  }
  return at < line.size() && text::is_blank(line[at]) ? at + 1 : at;
}

/// Marks [from, to) and the separator behind it as the stamp.
inline bool finish(std::string_view line, std::size_t from, std::size_t to, RawStamp& stamp) {
  stamp.cut_from = from;
  stamp.cut_to = skip_separator(line, to);
  return true;
}
/// ` host program[pid]:` behind a stamp: the host; the cursor stands before the program.
bool take_program_host(text::Cursor& cursor, std::string_view& host);
/// `AM` or `PM` behind a time of day.
void take_half_day(text::Cursor& cursor, Civil& civil);
bool take_day_name(text::Cursor& cursor);

// Loggers: loggers.cc.
bool iso(std::string_view line, RawStamp& stamp);
bool iso_basic(std::string_view line, RawStamp& stamp);
bool python(std::string_view line, RawStamp& stamp);
bool bracket_iso(std::string_view line, RawStamp& stamp);
bool tagged_iso(std::string_view line, RawStamp& stamp);
bool us_slash(std::string_view line, RawStamp& stamp);
bool slash(std::string_view line, RawStamp& stamp);
bool month_slash(std::string_view line, RawStamp& stamp);
bool bracket_slash(std::string_view line, RawStamp& stamp);
bool month_day(std::string_view line, RawStamp& stamp);
bool clock_only(std::string_view line, RawStamp& stamp);
bool glog(std::string_view line, RawStamp& stamp);
bool nemo(std::string_view line, RawStamp& stamp);
bool tornado(std::string_view line, RawStamp& stamp);
bool ascend(std::string_view line, RawStamp& stamp);
bool one_ccl(std::string_view line, RawStamp& stamp);

// Systems: systems.cc.
bool epoch(std::string_view line, RawStamp& stamp);
bool bracket_epoch(std::string_view line, RawStamp& stamp);
bool syslog(std::string_view line, RawStamp& stamp);
bool syslog_iso(std::string_view line, RawStamp& stamp);
bool syslog_priority(std::string_view line, RawStamp& stamp);
bool uptime(std::string_view line, RawStamp& stamp);
bool dmesg_minute(std::string_view line, RawStamp& stamp);
bool dmesg_decoded(std::string_view line, RawStamp& stamp);
bool kmsg(std::string_view line, RawStamp& stamp);

// Dates with words, and times inside of a text: worded.cc.
bool ctime_like(std::string_view line, RawStamp& stamp);
bool date_in_words(std::string_view line, RawStamp& stamp);
bool access_log(std::string_view line, RawStamp& stamp);
bool mllog(std::string_view line, RawStamp& stamp);
bool keyed(std::string_view line, RawStamp& stamp);
bool spoken(std::string_view line, RawStamp& stamp);

}  // namespace l4::stamps
