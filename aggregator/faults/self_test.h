// The library's test of itself: what every entry must keep, whoever wrote it.
//
// Flow: Library + how an agent reads a line -> findings; `l4 faults test` prints them, and the unit
// test of the library that ships wants none. Asked of every entry: it answers first for each line
// of `matches` and not at all for one of `rejects`, whether the library sees the line or its
// template, with its prefixes or without; each pattern is there for some line of `matches`; id and
// title are its own, cause and fix are not boilerplate; a pattern says enough to hit no healthy
// line. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/faults/library.h"
#include "common/drain/codes.h"

namespace l4::faults {

inline constexpr std::size_t kLiteralMin = 6;  ///< characters in a row, unless a code is asked for
inline constexpr std::size_t kTitleMax = 90;
inline constexpr std::size_t kSentenceUsesMax = 4;

struct Finding {
  std::string file;        ///< as Library::load was given the folder
  std::uint32_t line = 0;  ///< of `value`
  std::string entry, key, value, reason;

  std::string text() const;
};

/// How an agent reads a line.
struct LineReading {
  /// Takes time, prefixes and wrapping off: the message.
  std::function<std::string(std::string_view)> message_of;
  const drain::CodeList& codes = drain::default_codes();
};

/// In the order of the files. `library` was loaded from a folder.
std::vector<Finding> test(const Library& library, const LineReading& reading);

}  // namespace l4::faults
