// What stands before a time inside a line: words that announce it, and the scan for the time
// itself.
//
// For framed.cc and spoken.cc, which find the place where a time may begin. Pure functions, no
// allocation.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/stamps/formats.h"

namespace l4::stamps {

/// How a word stands before a time.
enum class Announcing : std::uint8_t {
  none,
  link,  ///< `at`, `on`, `the`: joins a time to what was said before
  thing  ///< `started`, `time`, `timestamp`: the time is that of the line
};

/// `word` in any case.
Announcing announcing(std::string_view word);

/// Scans for a stamp at the front of `rest` that names a day and is no duration. `epoch`: a number
/// that counts from 1970 is one, too.
bool scan_dated(std::string_view rest, bool epoch, RawStamp& stamp);

}  // namespace l4::stamps
