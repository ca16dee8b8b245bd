// What tells most rows apart without looking at their tokens.
//
// FrameSet compares a new pattern with everything in its leaf of the tree; a signature says no to
// nearly all of it. Values.
#pragma once

#include <cstdint>

#include "common/drain/row.h"

namespace l4::drain {

/// Eight places of a row, a byte each: most rows that a pattern does not cover differ from it in
/// one of them. Rows of one leaf have one length, so their places are the same.
struct Signature {
  Signature() = default;
  explicit Signature(const Row& row);
  bool may_cover(const Signature& row) const { return ((bits ^ row.bits) & literal) == 0; }
  bool may_meet(const Signature& other) const {
    return ((bits ^ other.bits) & literal & other.literal) == 0;
  }

  std::uint64_t bits = 0;
  std::uint64_t literal = 0;  ///< bytes of tokens that cover nothing but themselves
};

}  // namespace l4::drain
