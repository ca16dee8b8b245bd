#include "common/drain/signature.h"

#include <algorithm>

namespace l4::drain {

Signature::Signature(const Row& row) {
  const std::size_t places = std::min(kWords * 8, row.size());
  for (std::size_t i = 0; i < places; ++i) {
    const std::size_t shift = 8 * (i % 8);
    bits_[i / 8] |= (row[i].id >> 56) << shift;
    if (!is_general(row[i])) literal_[i / 8] |= std::uint64_t{0xff} << shift;
  }
}

}  // namespace l4::drain
