#include "common/drain/signature.h"

#include <limits>

namespace l4::drain {

Signature::Signature(const Row& row) {
  constexpr std::size_t kBits = 64 * kWords;
  std::size_t width = 8;
  while (width > 1 && row.size() * width > kBits) width /= 2;
  literal_.fill(std::numeric_limits<std::uint64_t>::max());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::size_t bit = i * width % kBits;
    const std::size_t shift = bit % 64;
    bits_[bit / 64] ^= row[i].id >> (64 - width) << shift;
    if (is_general(row[i])) literal_[bit / 64] &= ~(((std::uint64_t{1} << width) - 1) << shift);
  }
}

}  // namespace l4::drain
