#include "common/drain/signature.h"

#include <algorithm>

namespace l4::drain {

Signature::Signature(const Row& row) {
  constexpr std::size_t kPlaces = 8;
  const std::size_t places = std::min(kPlaces, row.size());
  for (std::size_t k = 0; k < places; ++k) {
    const Token& token = row[k * row.size() / places];
    bits |= (token.id >> 56) << (8 * k);
    if (!is_general(token)) literal |= std::uint64_t{0xff} << (8 * k);
  }
}

}  // namespace l4::drain
