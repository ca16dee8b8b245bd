// Character classes of bytes, in ASCII alone: no locale is asked.
#pragma once

namespace l4 {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/// A character of a program's name, digits aside.
constexpr bool is_name_letter(char c) {
  return is_letter(c) || c == '_';
}

}  // namespace l4
