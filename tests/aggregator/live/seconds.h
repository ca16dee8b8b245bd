// Times given in seconds from a fixed moment.
#pragma once

#include <cstdint>

#include "common/base/time.h"

namespace l4::test {

inline TimeMs at(std::int64_t seconds) {
  return TimeMs{Millis{1'800'000'000'000 + seconds * 1'000}};
}

}  // namespace l4::test
