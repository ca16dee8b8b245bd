// When a part of something is few of it: one rule for all that compare nodes or ranks.
#pragma once

#include <cstddef>

namespace l4::job {

/// At most a quarter: then what these nodes (or ranks) show singles them out from the others.
constexpr bool is_few(std::size_t some, std::size_t all) {
  return some * 4 <= all;
}

}  // namespace l4::job
