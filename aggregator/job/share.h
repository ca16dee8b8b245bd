// When some nodes or ranks are few among all: one rule for every comparison.
#pragma once

#include <cstddef>

namespace l4::job {

/// At most a quarter: evidence on so few nodes (or ranks) singles them out.
constexpr bool is_few(std::size_t some, std::size_t all) {
  return some * 4 <= all;
}

}  // namespace l4::job
