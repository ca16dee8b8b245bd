#include "aggregator/faults/distil.h"

#include <algorithm>
#include <array>
#include <set>

#include "aggregator/faults/literals.h"
#include "aggregator/faults/notation.h"
#include "common/drain/mask.h"
#include "common/parameters/parameters.h"

namespace l4::faults {
namespace {

constexpr std::string_view kWild = "<*>", kAnything = ".*";
constexpr std::string_view kSpecial = "\\.+*?()|[]{}^$";
constexpr std::size_t kNameMin = 3, kValuesMax = 8;
constexpr std::array<std::string_view, 12> kLevels{"DEBUG", "INFO",  "NOTICE",   "WARN",
                                                   "ERROR", "FATAL", "CRITICAL", "WARNING",
                                                   "ERR",   "TRACE", "SEVERE",   "EXCEPTION"};
/// The kinds of codes, in the order of the keys in an entry.
constexpr std::array kCodes{wire::ParameterKind::code, wire::ParameterKind::errno_value,
                            wire::ParameterKind::signal, wire::ParameterKind::exit_code};

bool is_word_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

/// Each whole occurrence of `name` becomes `<*>`.
void replace_name(std::string& text, std::string_view name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at)) {
    const std::size_t end = at + name.size();
    const bool whole = (at == 0 || !is_word_part(text[at - 1])) &&
                       (end == text.size() || !is_word_part(text[end]));
    if (whole) text.replace(at, name.size(), kWild);
    at += whole ? kWild.size() : 1;
  }
}

/// Names as they are and as masking changes them, longest first.
std::vector<std::string> forms_of(std::span<const std::string> names,
                                  std::span<const wire::Parameter> parameters) {
  std::set<std::string> forms;
  const auto add = [&](const std::string& name) {
    if (name.size() < kNameMin) return;
    forms.insert(name);
    const std::string masked = drain::text(drain::masked_row(name, drain::default_codes()));
    if (masked != kWild && masked.size() >= kNameMin && masked.find(' ') == masked.npos)
      forms.insert(masked);
  };
  for (const std::string& name : names) add(name);
  using Kind = wire::ParameterKind;
  for (const wire::Parameter& value : parameters)
    if (value.kind == Kind::host || value.kind == Kind::address || value.kind == Kind::path ||
        value.kind == Kind::device)
      add(value.value);
  std::vector<std::string> sorted(forms.begin(), forms.end());
  std::ranges::stable_sort(sorted, std::greater<>{}, &std::string::size);
  return sorted;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t\n\r"), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

bool is_level(std::string_view word) {
  const std::size_t from = word.find_first_not_of("[(<|");
  const std::size_t end = word.find_last_not_of("])>|:,-");
  if (from == word.npos || end == word.npos) return true;  // marks alone
  return std::ranges::find(kLevels, word.substr(from, end - from + 1)) != kLevels.end();
}

/// True if the word has only values and marks: masking may join it with the next value.
bool is_value(std::string_view word) {
  if (word.find(kWild) == word.npos) return false;
  return std::ranges::none_of(word, [](char c) {
    return c != '-' && c != '_' && (is_word_part(c) || static_cast<unsigned char>(c) >= 0x80);
  });
}

/// One word of a template in the notation of patterns.
std::string word_of(std::string_view word) {
  if (is_value(word)) return std::string(kAnything);
  std::string out;
  while (!word.empty()) {
    if (word.starts_with(kWild)) {
      if (!out.ends_with(kAnything)) out += kAnything;
      word.remove_prefix(kWild.size());
      continue;
    }
    if (kSpecial.find(word.front()) != kSpecial.npos) out += '\\';
    out += word.front();
    word.remove_prefix(1);
  }
  return out;
}

std::string pattern_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text)) {
    if (words.empty() && is_level(word)) continue;
    if (words.size() == kPatternWordsMax) break;
    std::string next = word_of(word);
    const bool wild = next == kAnything;
    if (wild && (words.empty() || words.back() == kAnything)) continue;
    words.push_back(std::move(next));
  }
  while (!words.empty() && words.back() == kAnything) words.pop_back();
  std::string pattern;
  for (const std::string& word : words) pattern += (pattern.empty() ? "" : " ") + word;
  return pattern;
}

std::vector<std::string> values_of(std::span<const wire::Parameter> parameters,
                                   wire::ParameterKind kind) {
  std::vector<std::string> values;
  for (const wire::Parameter& one : parameters)
    if (one.kind == kind && values.size() < kValuesMax &&
        std::ranges::find(values, one.value) == values.end())
      values.push_back(one.value);
  return values;
}

}  // namespace

Distilled distil(std::string_view template_text, std::span<const std::string> names,
                 std::span<const wire::Parameter> parameters) {
  std::string text(template_text);
  for (const std::string& name : forms_of(names, parameters)) replace_name(text, name);
  Distilled distilled;
  distilled.pattern = pattern_of(text);
  distilled.characters = literals_of(expand_pattern(distilled.pattern)).characters;
  std::vector<wire::Parameter> shown;
  parameters::extract(template_text, shown);
  for (const wire::ParameterKind kind : kCodes) {
    std::vector<std::string> values = values_of(shown, kind);
    if (values.empty()) values = values_of(parameters, kind);
    if (!values.empty()) distilled.conditions.push_back({kind, std::move(values)});
  }
  return distilled;
}

std::string line_of(std::string_view template_text) {
  std::string line(template_text);
  for (std::size_t at = line.find(kWild); at != line.npos; at = line.find(kWild, at))
    line.replace(at, kWild.size(), "7");
  return line;
}

}  // namespace l4::faults
