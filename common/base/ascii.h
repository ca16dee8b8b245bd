// Character classes of bytes, and words in any case, in ASCII alone: no locale is asked.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace l4 {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_letter(char c) {
  return is_lower(c) || is_upper(c);
}
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
/// A character of a program's name, digits aside.
constexpr bool is_name_letter(char c) {
  return is_letter(c) || c == '_';
}

constexpr char lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
/// True if the text, in any case, is `low`, which is in lower case.
constexpr bool equals_lower(std::string_view text, std::string_view low) {
  return std::ranges::equal(text, low, {}, lower);
}
/// True if the text begins with `low` in any case.
constexpr bool begins_lower(std::string_view text, std::string_view low) {
  return equals_lower(text.substr(0, low.size()), low);
}
/// True if the text, in any case, is one of the words, which are in lower case.
constexpr bool equals_one_of(std::string_view text, std::span<const std::string_view> low) {
  return std::ranges::any_of(low, [&](std::string_view word) { return equals_lower(text, word); });
}

}  // namespace l4
