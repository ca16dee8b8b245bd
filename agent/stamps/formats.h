// The table of time stamp formats: one row each.
//
// A row says which two characters its lines begin with, and what stands behind digits at their
// front, so that lines cost few tries, and has a scanner that fills a RawStamp or gives up.
// Scanners look at the first 200 bytes at most and neither allocate nor throw. To add a format: a
// scanner (scanners.h), a row, a golden file in tests/agent/decode/golden.
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
  bool clock_only = false;  ///< a time of day; the date is not printed
  bool timeless = false;    ///< cut out as a stamp, but names no point in time
  bool origin = false;      ///< `file.cpp:49]` stands before the message (glog, NeMo)
};

struct StampFormat {
  std::string_view name;
  std::string_view first;   ///< characters a line may begin with
  std::string_view second;  ///< ... and go on with; empty: any
  std::string_view behind;  ///< what may end the digits they begin with, if so; empty: any
  bool (*scan)(std::string_view line, RawStamp& stamp);
};

inline constexpr std::size_t kStampFormatsMax = 64;

std::span<const StampFormat> stamp_formats();
/// The rows that fit the first two characters of `line`, and the one behind digits at its front, a
/// bit for each.
std::uint64_t stamp_rows(std::string_view line);

}  // namespace l4::stamps
