// The closed list of codes that are never masked: Xid, exit codes, signals, errno, HTTP status,
// EEnnnn, NPU events and the like (config/masks.toml).
//
// Flow: the masker calls is_code() for every whole number that has the size of a code, before it
// masks the number. The phrases are compared backwards from the number, so that a number without
// such a phrase costs one table look-up. Immutable once built; shared by reference; default_codes()
// is the list of config/masks.toml.
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

/// A number after one of these phrases is a code. Phrases are in lower case; blanks and `:=([#"'`
/// may stand between phrase and number, and a group in parentheses if `across_group`. `digits`: the
/// number must have exactly this many digits; 0: up to six decimal ones. `begins`: beginnings that
/// the number may have, in upper case; empty: any. `hex`: hexadecimal digits, which may follow
/// `0x`.
struct CodeRule {
  std::string kind;
  std::vector<std::string> after;
  bool across_group = false;
  bool hex = false;
  std::size_t digits = 0;
  std::vector<std::string> begins = {};
  bool operator==(const CodeRule&) const = default;
};

/// Words that consist of a prefix and exactly `digits` digits are codes.
struct PrefixedCode {
  std::string kind;
  std::vector<std::string> prefixes;
  std::size_t digits = 4;
  bool operator==(const PrefixedCode&) const = default;
};

class CodeList {
 public:
  CodeList(std::vector<CodeRule> rules, std::vector<PrefixedCode> prefixed);

  /// True if a run of `size` decimal (hexadecimal) digits may be a code.
  bool may_be_decimal(std::size_t size) const { return size < 32 && (decimal_sizes_ >> size & 1U); }
  bool may_be_hex(std::size_t size) const { return size < 32 && (hex_sizes_ >> size & 1U); }
  /// True if `number`, including its sign or 0x, is a code. It is part of the line that begins at
  /// `line`.
  bool is_code(const char* line, std::string_view number) const;
  /// True if a number behind this part of a line may be a code; digits in `before` may differ.
  bool may_precede(std::string_view before) const;
  /// True if the letters and digits [run, end) are a code such as EI0006.
  bool is_prefixed(std::string_view run) const;

  const std::vector<CodeRule>& rules() const { return rules_; }
  const std::vector<PrefixedCode>& prefixed() const { return prefixed_; }

 private:
  void note_ending(const std::string& phrase);
  bool may_end_phrase(std::string_view before) const;
  bool may_end_like(std::string_view before) const;
  bool ends_with_phrase(std::string_view before, std::string_view number, bool across_group) const;

  std::vector<CodeRule> rules_;
  std::vector<PrefixedCode> prefixed_;
  std::bitset<32 * 32 * 32> endings_;       ///< by the last three bytes of a phrase
  std::bitset<32 * 32 * 32> like_endings_;  ///< the same where any digits equal any others
  std::uint32_t decimal_sizes_ = 0, hex_sizes_ = 0, first_letters_ = 0;
};

/// The built-in list.
const CodeList& default_codes();

/// Reads a list in the form of config/masks.toml. An Error names file, line and key.
Result<CodeList> read_codes(const std::filesystem::path& file);
/// Parses the text of such a file; `name` stands for the file in errors.
Result<CodeList> parse_codes(std::string_view text, const std::string& name);

}  // namespace l4::drain
