// Shared code of the fuzz targets: a failed property ends the program like a crash, and a byte of
// the input selects what the target does, so that the fuzzer can reach all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace l4::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "property broken: %s\n", what);
  std::abort();
}

/// The first byte selects, the others are the input itself.
struct Input {
  Input(const std::uint8_t* data, std::size_t size)
      : steer(size > 0 ? data[0] : std::uint8_t{0}),
        text(size > 0 ? std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1)
                      : std::string_view()) {}
  std::uint8_t steer;
  std::string_view text;
};

}  // namespace l4::fuzz
