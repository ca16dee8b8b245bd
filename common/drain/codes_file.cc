#include <istream>
#include <optional>
#include <utility>

// toml++ asserts on some malformed keys before it reports them: a report is what we want.
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>

#include "common/drain/codes.h"

namespace l4::drain {
namespace {

Error at(const toml::node& node, const std::string& name, std::string reason) {
  return {name + ":" + std::to_string(node.source().begin.line), std::move(reason)};
}

Result<std::vector<std::string>> read_words(const toml::table& table, const char* key,
                                            const std::string& name) {
  const toml::array* array = table[key].as_array();
  if (array == nullptr || array->empty()) {
    return std::unexpected(at(table, name, std::string(key) + " must be a list of words"));
  }
  std::vector<std::string> words;
  for (const toml::node& node : *array) {
    const auto word = node.value<std::string>();
    if (!word || word->empty()) {
      return std::unexpected(at(node, name, std::string(key) + " must hold non-empty words"));
    }
    words.push_back(*word);
  }
  return words;
}

/// A count of digits; 0 if the key may be missing and is.
Result<std::size_t> read_digits(const toml::table& table, bool needed, const std::string& name) {
  if (!needed && !table.contains("digits")) return std::size_t{0};
  const auto digits = table["digits"].value<std::int64_t>();
  if (!digits || *digits < 1 || *digits > 16) {
    return std::unexpected(at(table, name, "digits must be a number from 1 to 16"));
  }
  return static_cast<std::size_t>(*digits);
}

Result<CodeRule> read_rule(const toml::table& table, const std::string& name) {
  auto words = read_words(table, "after", name);
  if (!words) return std::unexpected(words.error());
  const bool hex = table["hex"].value_or(false);
  const auto digits = read_digits(table, hex, name);
  if (!digits) return std::unexpected(digits.error());
  Result<std::vector<std::string>> begins;
  if (table.contains("begins")) begins = read_words(table, "begins", name);
  if (!begins) return std::unexpected(begins.error());
  return CodeRule{table["kind"].value_or(std::string()),
                  std::move(*words),
                  table["across_group"].value_or(false),
                  hex,
                  *digits,
                  std::move(*begins)};
}

Result<PrefixedCode> read_prefixed(const toml::table& table, const std::string& name) {
  auto words = read_words(table, "prefixes", name);
  if (!words) return std::unexpected(words.error());
  const auto digits = read_digits(table, true, name);
  if (!digits) return std::unexpected(digits.error());
  return PrefixedCode{table["kind"].value_or(std::string()), std::move(*words), *digits};
}

Result<CodeList> read_tables(const toml::table& file, const std::string& name) {
  std::vector<CodeRule> rules;
  std::vector<PrefixedCode> prefixed;
  for (const auto& [key, value] : file) {
    const toml::array* tables = value.as_array();
    if (tables == nullptr || (key != "code" && key != "prefixed_code")) {
      return std::unexpected(at(value, name, "unknown key " + std::string(key.str())));
    }
    for (const toml::node& node : *tables) {
      if (!node.is_table()) return std::unexpected(at(node, name, "must be a table"));
      if (key == "code") {
        auto rule = read_rule(*node.as_table(), name);
        if (!rule) return std::unexpected(rule.error());
        rules.push_back(std::move(*rule));
      } else {
        auto code = read_prefixed(*node.as_table(), name);
        if (!code) return std::unexpected(code.error());
        prefixed.push_back(std::move(*code));
      }
    }
  }
  return CodeList(std::move(rules), std::move(prefixed));
}

}  // namespace

Result<CodeList> read_codes(std::istream& in, const std::string& name) {
  try {
    return read_tables(toml::parse(in, name), name);
  } catch (const toml::parse_error& error) {
    return std::unexpected(Error{name + ":" + std::to_string(error.source().begin.line),
                                 std::string(error.description())});
  }
}

}  // namespace l4::drain
