// Bytes as lower-case hexadecimal digits.
#pragma once

#include <span>
#include <string>

namespace l4 {

inline std::string hex_of(std::span<const unsigned char> bytes) {
  constexpr auto kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace l4
