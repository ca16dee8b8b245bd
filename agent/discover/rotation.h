// Files that a log was rotated into, found by their names and made one LogFile (design.md 3).
//
// Known are X.log.1, X.log-20261120, X.log.2026-11-20 and X.log.old, also packed (.gz, .zst), and
// beside an X.log also X.1.log and X-20261120.log. The oldest comes first, by number or date, or by
// their first times where all have one. Files whose times overlap were written side by side, by
// several ranks, and stay apart. Reads the ends of files that may be rotated, and no other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/discover/discover.h"

namespace l4::discover {

struct RotatedName {
  enum class Kind : std::uint8_t { current, numbered, dated, old };
  std::string base;  ///< the name before it was rotated and packed
  Kind kind = Kind::current;
  bool inner = false;  ///< the mark stands before the extension: counts only beside `base`
  std::string order;   ///< sorts the files of one kind, oldest first
};

/// `name` without folders.
RotatedName rotated_name(std::string_view name);

/// Moves rotated files into `older` of the file that is or was written to; sorted by name.
std::vector<LogFile> join_rotated(std::vector<LogFile> files);

}  // namespace l4::discover
