// Numbers with separators between thousands, for people.
#pragma once

#include <cstdint>
#include <string>

namespace l4 {

/// 18,233,102
inline std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

}  // namespace l4
