// What tells most rows apart without looking at their tokens.
//
// FrameSet compares a new pattern with everything in its leaf of the tree; a signature says no to
// nearly all of it. Values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/drain/row.h"

namespace l4::drain {

/// Some bits for each of a row's tokens, 8 where there is room for as many: a row that a pattern
/// does not cover differs from it in one of them, unless by accident. Rows of one leaf have one
/// length.
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
  std::array<std::uint64_t, kWords> literal_{};  ///< where no token is general
};

}  // namespace l4::drain
