// Hashing of masked text: tokens to 64 bits, rows of tokens to 64 bits.
//
// A row's hash is the sum of its tokens' hashes, each mixed with its position; replacing one token
// changes the sum in O(1), which the grouping uses for its look-ups. The functions are part of the
// contract: skeletons travel between nodes and are stored, so a change here is a change of format.
// Pure functions, no state.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/hash.h"

namespace l4::drain {

/// Stands for a masked value inside masked text; shown as `<*>`.
inline constexpr char kWild = '\x01';

inline constexpr std::uint64_t kHashA = hashing::kA;
inline constexpr std::uint64_t kHashB = hashing::kB;
inline constexpr std::uint64_t kHashC = hashing::kC;
inline constexpr std::uint64_t kRowSeed = kHashB;  ///< hash of an empty row: never 0

using hashing::fold;

inline std::uint64_t hash_token(const char* bytes, std::size_t size) {
  return hashing::of_bytes(bytes, size);
}

/// Contribution of a token at a position to its row's hash.
inline std::uint64_t placed(std::uint64_t token, std::size_t position) {
  return fold(token + (position + 1) * kHashA, kHashC);
}

}  // namespace l4::drain
