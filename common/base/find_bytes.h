// Finds the first byte of a kind, sixteen bytes at a time, and the text behind a hole.
//
// For searches that see every byte of a log, or of which memchr would do only a part. Written with
// the vector types that GCC and Clang have for every machine; they become SSE2 or NEON. Reads only
// bytes of the text. No state.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace l4 {

/// Comparing two of them gives 0 or -1 for each byte.
using ByteVector [[gnu::vector_size(16)]] = signed char;
using HalfVector [[gnu::vector_size(16)]] = std::uint64_t;

/// The first byte of `text` from `at` on that is of `kind`, else the text's size. `kind` is a
/// generic predicate: it is asked about a ByteVector and, near the end of short texts, about a
/// byte.
template <class Kind>
std::size_t find_kind(std::string_view text, std::size_t at, const Kind& kind) {
  constexpr std::size_t kStep = sizeof(ByteVector);
  const auto offset_in = [&](std::size_t from) {
    ByteVector bytes;
    std::memcpy(&bytes, text.data() + from, kStep);
    const auto found = std::bit_cast<HalfVector>(ByteVector(kind(bytes)));
    const auto first = [](std::uint64_t half) {
      const bool little = std::endian::native == std::endian::little;
      return static_cast<std::size_t>(little ? std::countr_zero(half) : std::countl_zero(half)) / 8;
    };
    return found[0] != 0 ? first(found[0]) : 8 + first(found[1]);
  };
  if (at + kStep <= text.size()) {
    const std::size_t last = text.size() - kStep;
    for (; at < last; at += kStep)
      if (const std::size_t offset = offset_in(at); offset < kStep) return at + offset;
    return last + offset_in(last);  // overlaps what was seen, which holds none
  }
  while (at < text.size() && !kind(static_cast<signed char>(text[at]))) ++at;
  return at;
}

/// Whoever goes on writing where a file was truncated leaves a hole of NUL before the text.
inline std::string_view behind_hole(std::string_view text) {
  if (text.empty() || text.front() != '\0') return text;
  return text.substr(std::min(text.find_first_not_of('\0'), text.size()));
}

}  // namespace l4
