// Hashing of bytes to 64 bits: quick, well mixed, not safe against chosen bytes.
//
// Stored values and values that travel between nodes are made of these hashes
// (common/drain/hash.h), so a change here is a change of format. Pure functions. Written for
// little-endian machines, as everything we ship to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace l4::hashing {

inline constexpr std::uint64_t kA = 0x9e3779b97f4a7c15;
inline constexpr std::uint64_t kB = 0xd6e8feb86659fd93;
inline constexpr std::uint64_t kC = 0xa0761d6478bd642f;

/// Upper and lower half of a 64 x 64 bit product, folded.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

template <class Word>
inline std::uint64_t load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// Up to eight bytes as one number; bytes may be read twice, none beyond the end.
inline std::uint64_t load_short(const char* bytes, std::size_t size) {
  if (size >= 4) {
    return load<std::uint32_t>(bytes) | load<std::uint32_t>(bytes + size - 4) << 32;
  }
  if (size == 0) return 0;
  const auto byte = [&](std::size_t at) { return load<std::uint8_t>(bytes + at); };
  return byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
}

inline std::uint64_t of_bytes(const char* bytes, std::size_t size) {
  std::uint64_t hash = size * kA;
  const char* at = bytes;
  std::size_t rest = size;
  for (; rest > 16; rest -= 16, at += 16) {
    hash = fold(load<std::uint64_t>(at) ^ kB, load<std::uint64_t>(at + 8) ^ hash);
  }
  if (rest > 8) {
    return fold(load<std::uint64_t>(at) ^ kB, load<std::uint64_t>(at + rest - 8) ^ hash);
  }
  return fold(load_short(at, rest) ^ kB, hash ^ kC);
}

}  // namespace l4::hashing
