// Finds the files that a log was rotated into by their names, and joins them to one LogFile.
//
// Known are X.log.1, X.log-20261120, X.log.2026-11-20 and X.log.old, also packed (.gz, .zst), and
// beside an X.log also X.1.log and X-20261120.log. The oldest comes first, by number or date, or by
// first times if all files have one. Files whose times overlap were written at the same time, by
// several ranks, and are not joined. Reads only the ends of files that may be rotated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "agent/discover/discover.h"

namespace l4::discover {

struct RotatedName {
  enum class Kind : std::uint8_t { current, numbered, dated, old };
  std::string base;  ///< the name before it was rotated and packed
  Kind kind = Kind::current;
  bool inner = false;  ///< the mark is before the extension: counts only beside `base`
  std::string order;   ///< sorts the files of one kind, oldest first
};

/// Sorts names of one log: the oldest file first, the current one last.
inline auto age_of(const RotatedName& name) {
  using Kind = RotatedName::Kind;
  return std::tuple<bool, Kind, const std::string&>(name.kind == Kind::current, name.kind,
                                                    name.order);
}

/// `name` without folders.
RotatedName rotated_name(std::string_view name);

/// Moves rotated files into `older` of the current file of their log; sorted by name.
std::vector<LogFile> join_rotated(std::vector<LogFile> files);

}  // namespace l4::discover
