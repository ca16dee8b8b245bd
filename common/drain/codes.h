// The closed list of codes that are never masked: Xid, exit codes, signals, errno, HTTP status,
// EEnnnn, NPU events and the like (algorithms.md 1, config/masks.toml).
//
// Flow: the masker asks is_code() for every whole number it would mask and that has the size of a
// code; the list is looked at backwards from the number, so lines without such words pay one table
// look-up a number.
// Immutable once built; shared by reference; default_codes() is the list of config/masks.toml.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace l4::drain {

/// A number after one of these phrases is a code. Phrases are lower-case; between phrase and number
/// blanks and `:=([#"'` may stand, and a group in parentheses if `across_group`. With `digits` only
/// numbers of exactly so many digits count (else: up to six decimal ones), with `begins` only those
/// that begin so (upper-case). `hex` digits may stand behind `0x`.
struct CodeRule {
  std::string kind;
  std::vector<std::string> after;
  bool across_group = false;
  bool hex = false;
  std::size_t digits = 0;
  std::vector<std::string> begins = {};
  bool operator==(const CodeRule&) const = default;
};

/// Words made of a prefix and exactly `digits` digits are codes.
struct PrefixedCode {
  std::string kind;
  std::vector<std::string> prefixes;
  std::size_t digits = 4;
  bool operator==(const PrefixedCode&) const = default;
};

class CodeList {
 public:
  CodeList(std::vector<CodeRule> rules, std::vector<PrefixedCode> prefixed);

  /// True if a run of so many decimal (hexadecimal) digits, or with 0x, may be a code at all.
  bool may_be_decimal(std::size_t size) const { return size < 32 && (decimal_sizes_ >> size & 1U); }
  bool may_be_hex(std::size_t size) const { return size < 32 && (hex_sizes_ >> size & 1U); }
  /// True if `number`, a part of a line that begins at `line`, is a code. It has its sign or 0x.
  bool is_code(const char* line, std::string_view number) const;
  /// True if some number may be a code behind this part of a line, or behind one with other digits.
  bool may_precede(std::string_view before) const;
  /// True if the letters and digits [run, end) are a code such as EI0006.
  bool is_prefixed(std::string_view run) const;

  const std::vector<CodeRule>& rules() const { return rules_; }
  const std::vector<PrefixedCode>& prefixed() const { return prefixed_; }

 private:
  void note_ending(const std::string& phrase);
  bool may_end_phrase(std::string_view before) const;
  bool ends_with_phrase(std::string_view before, std::string_view number, bool across_group) const;

  std::vector<CodeRule> rules_;
  std::vector<PrefixedCode> prefixed_;
  std::bitset<32 * 32 * 32> endings_;  ///< by the last three bytes of a phrase
  std::uint32_t decimal_sizes_ = 0, hex_sizes_ = 0, first_letters_ = 0;
};

/// The list that is compiled in.
const CodeList& default_codes();

/// Reads a list in the form of config/masks.toml; an Error names file, line and key.
Result<CodeList> read_codes(const std::filesystem::path& file);
/// The same for text that is at hand; `name` stands for the file in errors.
Result<CodeList> parse_codes(std::string_view text, const std::string& name);

}  // namespace l4::drain
