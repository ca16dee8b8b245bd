// Short word lists that are searched for every token: words of up to four bytes as one number.
//
// Comparing numbers spares the call to memcmp that a list of string_views costs per word, which
// was a tenth of the masker's time. Constant expressions, no state.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace l4::drain {

/// 0 for words that are empty or longer than four bytes.
constexpr std::uint32_t pack(std::string_view word) {
  if (word.size() > 4) return 0;
  std::uint32_t packed = 0;
  for (const char c : word) packed = packed << 8 | static_cast<unsigned char>(c);
  return packed;
}

template <std::size_t N>
class PackedWords {
 public:
  consteval explicit PackedWords(const std::string_view (&words)[N]) {
    std::transform(std::begin(words), std::end(words), packed_.begin(), pack);
  }
  constexpr bool contain(std::string_view word) const {
    const std::uint32_t wanted = pack(word);
    bool found = false;
    for (const std::uint32_t packed : packed_) found |= packed == wanted;
    return found;
  }

 private:
  std::array<std::uint32_t, N> packed_{};
};

}  // namespace l4::drain
