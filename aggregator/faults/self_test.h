// The library's test of itself: the rules that every entry keeps.
//
// Flow: Library + how an agent reads a line -> errors; `l4 faults test` prints them, and a unit
// test expects none in the shipped library. Rules: an entry is the first match of each line of
// `matches` and no match of a line of `rejects`, for the line and for its template, with and
// without prefixes; each pattern matches a line of `matches`; id and title are unique, cause and
// fix are not boilerplate; a pattern is specific enough not to match healthy lines. No state.
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

inline constexpr std::size_t kLiteralMin =
    6;  ///< constant characters in a row, unless a code is required
inline constexpr std::size_t kTitleMax = 90;
inline constexpr std::size_t kSentenceUsesMax = 4;

struct EntryError {
  std::string file;        ///< below the folder given to Library::load
  std::uint32_t line = 0;  ///< line of `value`
  std::string entry, key, value, reason;

  std::string text() const;
};

/// How an agent reads a line.
struct LineReading {
  /// The message of a line, without time, prefixes and wrapping.
  std::function<std::string(std::string_view)> message_of;
  const drain::CodeList& codes = drain::default_codes();
};

/// The errors in the order of the files. `library` was loaded from a folder.
std::vector<EntryError> test(const Library& library, const LineReading& reading);

}  // namespace l4::faults
