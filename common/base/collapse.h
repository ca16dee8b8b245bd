// Removes the digits from a line; outline.cc hashes the result.
//
// Two functions give the same text: one runs on every machine, one packs 64 bytes at a time where
// the processor can (AVX-512 VBMI2). Pure functions, no allocation; `out` is written up to
// kByteBlock bytes beyond the text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/find_bytes.h"
#include "common/base/outline.h"

namespace l4 {

struct CollapsedLine {
  std::size_t size = 0;
  std::uint64_t digits = 0;  ///< hash of the positions of digits, hexadecimal ones included
};
using CollapsedText = std::array<char, Outline::kBytesMax + kByteBlock>;

/// Writes `line`, of 1 to Outline::kBytesMax bytes, to `out`, with one NUL for each run of digits
/// and one line end for each run of hexadecimal digits behind `0x`.
CollapsedLine collapse(std::string_view line, CollapsedText& out);
/// Like collapse(), with code that runs on every machine.
CollapsedLine collapse_portably(std::string_view line, CollapsedText& out);

}  // namespace l4
