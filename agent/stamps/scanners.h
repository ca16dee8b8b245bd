// Functions that the scanners of time stamps share.
//
// A scanner is one function for one way to print a time: it reads the front of a line into a
// RawStamp, or returns false. `line` is never empty and begins with a character that the format's
// row names; Civil::valid() checks the ranges later. Scanners are pure functions without
// allocation, defined inline in figures.h, loggers.h, systems.h and worded.h; formats.cc alone
// includes those and has a row for each, so that a format is one function and one row.
#pragma once

#include <string_view>

#include "agent/stamps/formats.h"

namespace l4::stamps {

/// Skips one separator behind a stamp (`-`, `|`, `:`, `,`) and one blank. Further blanks may be the
/// indentation of the text.
inline std::size_t skip_separator(std::string_view line, std::size_t at) {
  text::Cursor c{line, at};
  c.skip_blanks();
  const char sign = c.peek();
  if (sign == '-' || sign == '|' || sign == ':' || sign == ',') {
    ++c.at;
    if (c.accept(' ') || c.accept('\t')) return c.at;
  }
  return at < line.size() && text::is_blank(line[at]) ? at + 1 : at;
}

/// Marks [from, to) and the separator behind it as the stamp; returns true.
inline bool finish(std::string_view line, std::size_t from, std::size_t to, RawStamp& stamp) {
  stamp.cut_from = from;
  stamp.cut_to = skip_separator(line, to);
  return true;
}
/// True if a level stands at the cursor, behind signs: ` INFO`, `: [error]`.
bool level_follows(text::Cursor cursor);
/// Parses ` host program[pid]:` behind a stamp; leaves the cursor before the program.
bool parse_program_host(text::Cursor& cursor, std::string_view& host);
bool parse_day_name(text::Cursor& cursor);

}  // namespace l4::stamps
