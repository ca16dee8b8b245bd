// Character classes, and a cursor to parse along a text.
//
// Hand-written instead of <regex> or <cctype>: no locale, no allocation, inlined on the hot path.
// agent/stamps and agent/decode parse with it. Header only, no state.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace l4::text {

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
  return static_cast<unsigned char>((c | 0x20) - 'a') < 26;
}
inline bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// One look-up for each character, because nearly every line is tested for words and hosts.
using CharacterSet = std::array<bool, 256>;
consteval CharacterSet characters(std::string_view text) {
  CharacterSet set{};
  for (const char c : text) set[static_cast<unsigned char>(c)] = true;
  return set;
}
consteval CharacterSet letters_digits_and(std::string_view others) {
  CharacterSet set = characters(others);
  for (unsigned char c = '0'; c <= '9'; ++c) set[c] = true;
  for (unsigned char c = 'A'; c <= 'Z'; ++c) set[c] = set[c | 0x20] = true;
  return set;
}
inline constexpr CharacterSet kAlnumCharacters = letters_digits_and("");
inline constexpr CharacterSet kWordCharacters = letters_digits_and("_");
/// Characters of host names, addresses and Kubernetes names.
inline constexpr CharacterSet kHostCharacters = letters_digits_and("-._");

/// For letters; other characters may change.
inline char lower(char c) {
  return static_cast<char>(c | 0x20);
}
/// True if the word, in any case, is `letters`, which are in lower case.
inline bool equals_lower(std::string_view word, std::string_view letters) {
  return std::ranges::equal(word, letters, {}, lower);
}

inline bool is_alnum(char c) {
  return kAlnumCharacters[static_cast<unsigned char>(c)];
}
inline bool is_word(char c) {
  return kWordCharacters[static_cast<unsigned char>(c)];
}
inline bool is_host(char c) {
  return kHostCharacters[static_cast<unsigned char>(c)];
}
/// is_host() for find_kind(), which tests sixteen bytes at a time.
inline constexpr auto kIsHostByte = [](auto byte) {
  const auto lower = byte | 0x20;
  return ((lower >= 'a') & (lower <= 'z')) | ((byte >= '0') & (byte <= '9')) |
         ((byte >= '-') & (byte <= '.')) | (byte == '_');
};
static_assert([] {
  for (std::size_t i = 0; i < kHostCharacters.size(); ++i)
    if ((kIsHostByte(static_cast<signed char>(i)) != 0) != kHostCharacters[i]) return false;
  return true;
}());

inline std::string_view trim_left(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && is_blank(text[i])) ++i;
  return text.substr(i);
}

inline bool all_blank(std::string_view text) {
  return trim_left(text).empty();
}

inline std::string_view trim_right(std::string_view text) {
  std::size_t n = text.size();
  while (n > 0 && is_blank(text[n - 1])) --n;
  return text.substr(0, n);
}

inline std::string_view trim(std::string_view text) {
  return trim_right(trim_left(text));
}

/// The first three characters as one number, so that short names are compared without memcmp; 0 for
/// shorter texts.
constexpr std::uint32_t first_three(std::string_view text) {
  if (text.size() < 3) return 0;
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(text[i])};
  };
  return byte(0) << 16 | byte(1) << 8 | byte(2);
}

inline bool contains(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         ::memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
}

/// Reads three numbers of two digits, with `sign` between them: `15:54:21`, `26-11-20`. False, with
/// nothing read, for another text. `at` points to eight bytes.
inline bool read_pairs(const char* at, char sign, int& first, int& second, int& third) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  constexpr std::uint64_t kZeros = 0x3030003030003030, kSigns = 0x0000010000010000;
  // Digits become their values, signs become 0; the sums reach the top bit for all others.
  bytes ^= kZeros | kSigns * static_cast<unsigned char>(sign);
  constexpr std::uint64_t kUpToTop = 0x76767f76767f7676, kTop = 0x8080808080808080;
  if ((((bytes + kUpToTop) | bytes) & kTop) != 0) return false;
  const std::uint64_t numbers = bytes * 10 + (bytes >> 8);
  first = static_cast<int>(numbers & 0xff);
  second = static_cast<int>(numbers >> 24 & 0xff);
  third = static_cast<int>(numbers >> 48 & 0xff);
  return true;
}

/// Reads along a text; accept() and parse_number() leave the cursor alone if they fail.
struct Cursor {
  std::string_view text;
  std::size_t at = 0;

  bool done() const { return at >= text.size(); }
  char peek() const { return at < text.size() ? text[at] : '\0'; }
  std::string_view rest() const { return text.substr(at); }

  bool accept(char c) {
    if (peek() != c || done()) return false;
    ++at;
    return true;
  }
  bool accept(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    at += word.size();
    return true;
  }
  /// Between `least` and `most` decimal digits, at most 18.
  bool parse_number(std::size_t least, std::size_t most, std::int64_t& out) {
    std::size_t i = at;
    std::int64_t value = 0;
    while (i < text.size() && i - at < most && is_digit(text[i]))
      value = value * 10 + text[i++] - '0';
    if (i - at < least) return false;
    out = value;
    at = i;
    return true;
  }
  bool parse_number(std::size_t least, std::size_t most, int& out) {
    std::int64_t value = 0;
    if (!parse_number(least, most, value)) return false;
    out = static_cast<int>(value);
    return true;
  }
  void skip_blanks() {
    while (at < text.size() && is_blank(text[at])) ++at;
  }
};

}  // namespace l4::text
