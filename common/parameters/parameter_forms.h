// Forms that a text begins with or holds; the scanner of parameters.cc asks for them.
//
// Pure functions, no allocation.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/parameters/parameter_words.h"

namespace l4::parameters::words {

/// Bytes of the address that `text` begins with; 0 if it begins with none.
inline std::size_t ipv4_size(std::string_view text) {
  std::size_t size = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (size >= text.size() || text[size++] != '.')) return 0;
    const auto digits = front_while(text.substr(std::min(size, text.size())), is_digit);
    if (digits.empty() || digits.size() > 3 || (digits.size() == 3 && digits > "255")) return 0;
    size += digits.size();
  }
  const char behind = size < text.size() ? text[size] : ' ';
  const bool more = behind == '.' && size + 1 < text.size() && is_digit(text[size + 1]);
  return is_word(behind) || more ? 0 : size;
}

/// ":29400" or "<33092>" behind an address.
inline std::size_t port_size(std::string_view text) {
  if (text.empty() || (text.front() != ':' && text.front() != '<')) return 0;
  return 1 + front_while(text.substr(1), is_digit).size();
}

/// "gpu-node-7".
inline bool has_node_infix(std::string_view word) {
  for (auto at = word.find('-'); at != std::string_view::npos; at = word.find('-', at + 1))
    if (begins(word.substr(at), "-node")) return true;
  return false;
}

}  // namespace l4::parameters::words
