// Finds the first byte of a kind, sixteen bytes at a time, and the text behind a hole.
//
// For searches that see every byte of a log, or that memchr could do only in part. Written with the
// vector types that GCC and Clang have for every machine; they become SSE2 or NEON. Reads only
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

/// Bit i is set where byte i is -1; the others are 0.
inline std::uint64_t bits_of(ByteVector bytes) {
#ifdef __SSE2__
  using Chars [[gnu::vector_size(16)]] = char;
  return static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(std::bit_cast<Chars>(bytes)));
#else
  constexpr std::uint64_t kBitOfByte = 0x8040201008040201, kSumUp = 0x0101010101010101;
  const auto halves = std::bit_cast<HalfVector>(bytes);
  const std::uint64_t low = ((halves[0] & kBitOfByte) * kSumUp) >> 56;
  const std::uint64_t high = ((halves[1] & kBitOfByte) * kSumUp) >> 56;
  return low | high << 8;
#endif
}

inline constexpr std::size_t kByteBlock = 64;

/// Bit i is set where byte i of 64 is of `kind`, see find_kind().
template <class Kind>
std::uint64_t bits_of_block(const char* bytes, const Kind& kind) {
  std::uint64_t bits = 0;
  for (std::size_t at = 0; at < kByteBlock; at += sizeof(ByteVector)) {
    ByteVector some;
    std::memcpy(&some, bytes + at, sizeof some);
    bits |= bits_of(ByteVector(kind(some))) << at;
  }
  return bits;
}

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
    return last + offset_in(last);  // overlaps bytes that were searched already
  }
  while (at < text.size() && !kind(static_cast<signed char>(text[at]))) ++at;
  return at;
}

/// Like text.find(phrase, at). Candidates agree in their first and last byte, so common first bytes
/// do not slow the search.
inline std::size_t find_phrase(std::string_view text, std::string_view phrase, std::size_t at = 0) {
  constexpr std::size_t kStep = sizeof(ByteVector);
  if (phrase.empty()) return text.find(phrase, at);
  const std::size_t behind = phrase.size() - 1;
  for (; at + behind + kStep <= text.size(); at += kStep) {
    ByteVector first, last;
    std::memcpy(&first, text.data() + at, kStep);
    std::memcpy(&last, text.data() + at + behind, kStep);
    const ByteVector both = (first == static_cast<signed char>(phrase.front())) &
                            (last == static_cast<signed char>(phrase.back()));
    for (std::uint64_t found = bits_of(both); found != 0; found &= found - 1) {
      const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(found));
      if (std::memcmp(text.data() + place, phrase.data(), phrase.size()) == 0) return place;
    }
  }
  return text.find(phrase, at);
}

/// A program that keeps its offset in a truncated file leaves a hole of NUL before its text.
inline std::string_view behind_hole(std::string_view text) {
  if (text.empty() || text.front() != '\0') return text;
  return text.substr(std::min(text.find_first_not_of('\0'), text.size()));
}

}  // namespace l4
