// Signatures: a quick test that tells most rows apart without reading their tokens.
//
// FrameSet compares a new pattern with everything in its leaf of the tree; signatures rule out
// nearly all of it. Plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/drain/row.h"

namespace l4::drain {

/// Some bits for each token of a row, 8 if there is room. A row that a pattern does not cover
/// differs from it in one of these bits, except by accident. Only rows of the same length are
/// compared.
class Signature {
 public:
  explicit Signature(const Row& row);
  bool may_cover(const Signature& row) const {
    return agrees(row, [this](std::size_t i) { return literal_[i]; });
  }
  bool may_meet(const Signature& other) const {
    return agrees(other, [&](std::size_t i) { return literal_[i] & other.literal_[i]; });
  }

 private:
  static constexpr std::size_t kWords = 8;

  template <class Mask>
  bool agrees(const Signature& other, Mask mask) const {
    for (std::size_t i = 0; i < kWords; ++i)
      if (((bits_[i] ^ other.bits_[i]) & mask(i)) != 0) return false;
    return true;
  }

  std::array<std::uint64_t, kWords> bits_{};
  std::array<std::uint64_t, kWords> literal_{};  ///< bits of tokens that are not general
};

}  // namespace l4::drain
