// Masks the values inside one token of a line, by byte classes.
//
// Used by mask.cc alone, once per token that holds a digit or another suspect byte. Writes into its
// own fixed buffer: no allocation. Values within a token are joined (`10.0.0.1:80` is one `<*>`); a
// unit that follows a number (`1.5 GiB`) belongs to the value. Reads the line backwards for codes
// and one token ahead for units; never beyond the line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/drain/codes.h"
#include "common/drain/hash.h"

namespace l4::drain {

enum ByteClass : std::uint8_t {
  kBlank = 1,
  kDigit = 2,
  kHexLetter = 4,
  kLetter = 8,    ///< letters and all bytes above 127
  kSuspect = 16,  ///< a token with such a byte must be masked: digits / \ < = kWild
  kJoin = 32,     ///< joins the values before and after it
  kPathEnd = 64,  ///< ends a path
  kOther = 128,   ///< a token that begins with a digit and has no such byte is a value
};

constexpr std::array<std::uint8_t, 256> make_byte_classes() {
  std::array<std::uint8_t, 256> table{};
  const auto mark = [&](std::string_view bytes, std::uint8_t bits) {
    for (const char c : bytes) table[static_cast<unsigned char>(c)] |= bits;
  };
  mark(" \t\r\n\f\v", kBlank | kPathEnd);
  mark("0123456789", kDigit | kSuspect);
  mark("abcdefABCDEF", kHexLetter);
  mark("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", kLetter);
  for (std::size_t i = 128; i < 256; ++i) table[i] |= kLetter;
  mark("/\\<=\x01", kSuspect);
  mark(".,:-/_+*#@~", kJoin);
  mark("\"'<>()[]{},;|=:", kPathEnd);
  for (std::uint8_t& bits : table) bits |= kOther;
  for (const char c : std::string_view("0123456789.,:-/|"))
    table[static_cast<unsigned char>(c)] &= static_cast<std::uint8_t>(~kOther);
  return table;
}

inline constexpr std::array<std::uint8_t, 256> kByteClasses = make_byte_classes();

constexpr std::uint8_t class_of(char c) {
  return kByteClasses[static_cast<unsigned char>(c)];
}
constexpr bool has(char c, std::uint8_t bits) {
  return (class_of(c) & bits) != 0;
}

class TokenMasker {
 public:
  TokenMasker(std::string_view line, const CodeList& codes)
      : line_(line.data()), line_end_(line.data() + line.size()), codes_(codes) {}

  /// Masks [begin, end); returns the end of the token, which is behind `end` if a unit belongs to
  /// it.
  const char* mask(const char* begin, const char* end);

  /// True if [begin, end), which has no kOther, is just a value; `end` moves behind its unit.
  bool plain(const char* begin, const char*& end);

  const char* bytes() const { return out_.data(); }
  std::size_t size() const { return size_; }
  std::size_t wilds() const { return wilds_; }
  /// True if the masked token has nothing but values and punctuation.
  bool bare() const { return wilds_ > 0 && words_ == 0; }

 private:
  const char* step(const char* at);
  const char* run(const char* at);
  const char* number(const char* at, const char* end);
  const char* mixed(const char* at, const char* end);
  const char* path(const char* at);
  const char* groups(const char* at, const char* end) const;
  bool starts_piece() const;
  const char* unit(const char* at);
  bool is_code(const char* at, const char* digits, const char* end) const;
  void append(char c);
  void append_run(const char* from, const char* to);
  void append_wild();

  const char* line_;
  const char* line_end_;
  const CodeList& codes_;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  std::size_t size_ = 0;
  std::size_t wilds_ = 0;
  std::size_t words_ = 0;  ///< letters and code digits kept
  std::array<char, 1024> out_;
};

}  // namespace l4::drain
