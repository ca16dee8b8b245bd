// Tests of a line that cost little and answer no for nearly all lines, which then need no closer
// look.
//
// Used by the decoder for every line. Pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "agent/decode/line_framer.h"
#include "agent/text/scan.h"

namespace l4::decode {

/// The JSON object that the text consists of, or that follows DLLogger's tag or a log collector's
/// stamp and tag; else empty.
inline std::string_view json_of(std::string_view text, bool stamped) {
  constexpr std::string_view kDlLogger = "DLLL ";
  constexpr std::size_t kTagBytes = 100;
  text = text::trim(text);
  if (text.size() < 2 || text.back() != '}') return {};
  if (text[0] == '{') return text;
  if (text.starts_with(kDlLogger)) return text::trim_left(text.substr(kDlLogger.size()));
  const std::size_t at = stamped ? text.substr(0, kTagBytes).find("{\"") : text.npos;
  if (at == text.npos || at == 0 || !text::is_blank(text[at - 1])) return {};
  const std::string_view tag = text::trim_right(text.substr(0, at));
  return tag.find_first_of(" \t") == tag.npos ? text.substr(at) : std::string_view{};
}

/// False for nearly all lines, which then need no closer test.
inline bool may_hold_fields(std::string_view text) {
  return !text.empty() && (text.back() == '}' || text[0] == 't' || text[0] == 'l');
}

inline bool may_be_logfmt(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kFronts{"time", "ts",        "level",
                                                           "t",    "timestamp", "lvl"};
  constexpr std::size_t kFrontMax = 9;
  std::size_t size = 0;
  while (size < std::min(kFrontMax, text.size()) && text::is_lower(text[size])) ++size;
  if (size == text.size() || text[size] != '=') return false;
  return std::ranges::find(kFronts, text.substr(0, size)) != kFronts.end();
}

/// True if the text, behind the stamp of kubectl or mpirun, may begin with the program's own stamp.
inline bool may_be_stamp(std::string_view text) {
  const std::size_t at = !text.empty() && text[0] == '[' ? 1 : 0;
  return text.size() > at + 8 && text::is_digit(text[at]) && text::is_digit(text[at + 1]);
}

/// Removes a byte order mark, at the begin of a file and of each rotated one; and the rest of a
/// character at the begin of a file, which rotation has cut.
inline void cut_front(RawLine& raw) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::size_t kRestMax = 3;
  std::size_t size = raw.head.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (raw.number == 1)
    while (size < std::min(kRestMax, raw.head.size()) && (raw.head[size] & 0xC0) == 0x80) ++size;
  if (raw.last.data() == raw.head.data()) {
    raw.last.remove_prefix(size);
    raw.last_from += size;
  }
  raw.head.remove_prefix(size);
}

inline bool may_begin_object(std::string_view text) {
  const std::string_view behind_blanks = text::trim_left(text);
  return !behind_blanks.empty() && behind_blanks[0] == '{';
}

}  // namespace l4::decode
