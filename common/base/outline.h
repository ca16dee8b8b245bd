// The outline of a line: a hash of the line without its digits.
//
// Lines of one event mostly differ in digits alone (hexadecimal ones behind `0x` included).
// Expensive results about a line that do not depend on the digits are remembered by the outline
// (outline_memo.h). Costs about as much as two memchr over the line; no allocation. Pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace l4 {

struct Outline {
  static constexpr std::size_t kBytesMax = 2048;  ///< a longer line has no outline

  std::uint64_t collapsed = 0;  ///< each run of digits is one sign; 0: there is no outline
  std::uint64_t sized = 0;      ///< like `collapsed`, and the length of each run counts, too
};

Outline outline_of(std::string_view line);

}  // namespace l4
