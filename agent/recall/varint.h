// Small numbers in few bytes: seven bits a byte, lowest first; differences are zigzag-encoded.
//
// SegmentIndex::freeze() packs with it (agent/recall/segment_index.h). The readers accept only
// bytes that the appending functions wrote.
#pragma once

#include <cstdint>
#include <vector>

namespace l4::recall {

inline void append_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::uint8_t>(value | 0x80));
  out.push_back(static_cast<std::uint8_t>(value));
}

inline std::uint64_t read_varint(const std::uint8_t*& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint64_t byte = *at++;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

/// Appends the difference from `before` to `value`, modulo 2^64; small differences of either sign
/// take few bytes.
inline void append_delta(std::vector<std::uint8_t>& out, std::uint64_t before,
                         std::uint64_t value) {
  const std::uint64_t step = value - before;
  append_varint(out, (step << 1) ^ (step >> 63 != 0 ? ~std::uint64_t{0} : 0));
}

inline std::uint64_t read_delta(const std::uint8_t*& at, std::uint64_t before) {
  const std::uint64_t zigzag = read_varint(at);
  return before + ((zigzag >> 1) ^ ((zigzag & 1) != 0 ? ~std::uint64_t{0} : 0));
}

}  // namespace l4::recall
