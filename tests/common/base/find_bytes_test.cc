#include "common/base/find_bytes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace l4 {
namespace {

TEST_CASE("find_kind finds the same byte as a search one by one") {
  const auto kind = [](auto byte) { return (byte < 0x20) | (byte == '['); };
  for (std::size_t size = 0; size <= 50; ++size)
    for (std::size_t at = 0; at <= size; ++at)
      for (std::size_t hit = 0; hit <= size; ++hit) {
        std::string text(size, 'x');
        if (hit < size) text[hit] = hit % 3 == 0 ? '[' : hit % 3 == 1 ? '\x1f' : '\xE2';
        if (hit + 7 < size) text[hit + 7] = '[';
        const auto found =
            std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                         [](char c) { return static_cast<signed char>(c) < 0x20 || c == '['; });
        CAPTURE(size);
        CAPTURE(at);
        REQUIRE(find_kind(text, at, kind) == static_cast<std::size_t>(found - text.begin()));
      }
}

}  // namespace
}  // namespace l4
