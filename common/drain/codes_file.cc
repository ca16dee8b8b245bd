#include <utility>

#include "common/config/config_table.h"
#include "common/drain/codes.h"

namespace l4::drain {
namespace {

std::vector<std::string> read_words(ConfigTable& table, std::string_view key) {
  std::vector<std::string> words = table.texts(key);
  for (const std::string& word : words)
    if (word.empty()) table.refuse(key, "must hold non-empty words");
  return words;
}

/// Reads a number of digits; 0 if the key is optional and missing.
std::size_t read_digits(ConfigTable& table, bool needed) {
  constexpr std::int64_t kMost = 16;
  const std::int64_t digits = table.integer_or("digits", 0);
  if (digits >= 1 && digits <= kMost) return static_cast<std::size_t>(digits);
  if (needed || table.has("digits")) table.refuse("digits", "must be a number from 1 to 16");
  return 0;
}

CodeRule read_rule(ConfigTable& table) {
  CodeRule rule;
  rule.kind = table.text_or("kind", "");
  rule.after = read_words(table, "after");
  rule.across_group = table.flag_or("across_group", false);
  rule.hex = table.flag_or("hex", false);
  rule.digits = read_digits(table, rule.hex);
  if (table.has("begins")) rule.begins = read_words(table, "begins");
  return rule;
}

PrefixedCode read_prefixed(ConfigTable& table) {
  PrefixedCode code;
  code.kind = table.text_or("kind", "");
  code.prefixes = read_words(table, "prefixes");
  code.digits = read_digits(table, true);
  return code;
}

Result<CodeList> read_list(Result<ConfigTable> root) {
  if (!root) return std::unexpected(root.error());
  std::vector<CodeRule> rules;
  std::vector<PrefixedCode> prefixed;
  for (ConfigTable& table : root->tables("code")) rules.push_back(read_rule(table));
  for (ConfigTable& table : root->tables("prefixed_code")) prefixed.push_back(read_prefixed(table));
  if (const auto error = root->finish()) return std::unexpected(*error);
  if (rules.empty()) root->refuse("code", "missing: at least one [[code]] is needed");
  if (const auto error = root->finish()) return std::unexpected(*error);
  return CodeList(std::move(rules), std::move(prefixed));
}

}  // namespace

Result<CodeList> read_codes(const std::filesystem::path& file) {
  return read_list(ConfigTable::load(file));
}

Result<CodeList> parse_codes(std::string_view text, const std::string& name) {
  return read_list(ConfigTable::parse(text, name));
}

}  // namespace l4::drain
