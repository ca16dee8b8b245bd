// The table of time stamp formats, one row each (formats.cc).
//
// A row has a scanner, and names the first two characters of its lines and the characters that may
// follow digits at their front, so that few scanners are tried for a line. Scanners (scanners.h)
// read the first 200 bytes at most and neither allocate nor throw. docs/ARCHITECTURE.md, "Recipes",
// says how to add a format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "agent/stamps/civil.h"
#include "common/base/vocabulary.h"

namespace l4::stamps {

struct RawStamp {
  RawStamp() {}  // not `= default`, see Record

  Civil civil;
  std::optional<std::int64_t> epoch_ms;  ///< instead of `civil`
  std::size_t cut_from = 0, cut_to = 0;
  Level level = Level::unknown;
  std::string_view host;
  bool clock_only = false;    ///< a time of day; the date is not printed
  bool timeless = false;      ///< removed like a stamp, but names no point in time
  bool origin = false;        ///< `file.cpp:49]` stands before the message (glog, NeMo)
  bool coarse = false;        ///< so few digits that the time is off by minutes or more
  bool either_first = false;  ///< `11/12/2026`: the first may be the day
  bool doubtful = false;      ///< may be another time than that of the line (spoken.h)
};

struct StampFormat {
  std::string_view name;
  std::string_view first;   ///< characters a line may begin with
  std::string_view second;  ///< characters that may follow; empty: any
  std::string_view behind;  ///< characters that may follow digits at the front; empty: any
  bool (*scan)(std::string_view line, RawStamp& stamp);
};

inline constexpr std::size_t kStampFormatsMax = 64;

std::span<const StampFormat> stamp_formats();
/// The rows that fit the first two characters of `line` and the character behind digits at its
/// front, one bit for each row.
std::uint64_t stamp_rows(std::string_view line);
/// The rows for stamps behind a frame or inside a text (framed.h, spoken.h). They are not for
/// indented lines: those belong to a table or a text whose times are not those of the lines.
std::uint64_t inner_rows();
/// The row for stamps inside a text, which stamp_rows() never names: it is for lines that no other
/// row reads.
std::size_t spoken_row();

}  // namespace l4::stamps
