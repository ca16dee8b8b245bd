// Character classes and small readers shared by the scanners of this room.
//
// Hand-written instead of <regex> or <cctype>: no locale, no allocation, inlined on the hot path.
// Header only, no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace l4::decode {

inline bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}
inline bool is_upper(char c) {
  return static_cast<unsigned char>(c - 'A') < 26;
}
inline bool is_lower(char c) {
  return static_cast<unsigned char>(c - 'a') < 26;
}
inline bool is_alpha(char c) {
  return is_upper(c) || is_lower(c);
}
inline bool is_alnum(char c) {
  return is_alpha(c) || is_digit(c);
}
inline bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
inline bool is_word(char c) {
  return is_alnum(c) || c == '_';
}
/// Characters of host names, also of addresses and of Kubernetes names: one look-up a character,
/// for nearly every line is asked whether a host stands at its front.
inline constexpr auto kHostCharacters = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 256; ++c)
    table[static_cast<std::size_t>(c)] = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                                         (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
  return table;
}();
inline bool is_host(char c) {
  return kHostCharacters[static_cast<unsigned char>(c)];
}

/// Which characters the texts of a table begin with, to leave it alone for most lines.
template <class Table>
constexpr std::array<bool, 256> first_characters(const Table& table) {
  std::array<bool, 256> found{};
  for (const auto& row : table) found[static_cast<unsigned char>(row.text[0])] = true;
  return found;
}

inline bool all_blank(std::string_view text) {
  return text.find_first_not_of(" \t") == std::string_view::npos;
}

inline std::string_view trim_left(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && is_blank(text[i])) ++i;
  return text.substr(i);
}

inline std::string_view trim_right(std::string_view text) {
  std::size_t n = text.size();
  while (n > 0 && is_blank(text[n - 1])) --n;
  return text.substr(0, n);
}

inline std::string_view trim(std::string_view text) {
  return trim_right(trim_left(text));
}

inline bool contains(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         ::memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
}

/// Reads along a text; every take_* leaves the cursor alone if it fails.
struct Cursor {
  std::string_view text;
  std::size_t at = 0;

  bool done() const { return at >= text.size(); }
  char peek() const { return at < text.size() ? text[at] : '\0'; }
  std::string_view rest() const { return text.substr(at); }

  bool take(char c) {
    if (peek() != c || done()) return false;
    ++at;
    return true;
  }
  bool take(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    at += word.size();
    return true;
  }
  /// Between `least` and `most` decimal digits, at most 18.
  bool take_number(std::size_t least, std::size_t most, std::int64_t& out) {
    std::size_t i = at;
    std::int64_t value = 0;
    while (i < text.size() && i - at < most && is_digit(text[i]))
      value = value * 10 + text[i++] - '0';
    if (i - at < least) return false;
    out = value;
    at = i;
    return true;
  }
  bool take_number(std::size_t least, std::size_t most, int& out) {
    std::int64_t value = 0;
    if (!take_number(least, most, value)) return false;
    out = static_cast<int>(value);
    return true;
  }
  void skip_blanks() {
    while (at < text.size() && is_blank(text[at])) ++at;
  }
};

}  // namespace l4::decode
