#include "aggregator/faults/notation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "common/base/ascii.h"

namespace l4::faults {
namespace {

constexpr std::string_view kNumber = R"((?:(?:<\*>|[-+]?[0-9])[0-9A-Za-z.:,_<*>-]*))";
constexpr std::string_view kWord = R"((?:[^\s]+))";
constexpr std::string_view kMaskedValue = R"(<\*>)";
constexpr std::string_view kEdge = "\\b";
constexpr std::string_view kJoins = ".,:-/_+*#@~";  // join two values to one
constexpr std::string_view kCloses = ":,;)]}\"'";
constexpr std::string_view kMarks = ":,;#=<>/-\"'%&@!~_";  // are literals in RE2
constexpr std::size_t kNameDigitsMax = 3;
/// Units that masking joins with the number before them (common/drain/token_masker.cc).
constexpr std::array<std::string_view, 16> kUnits{"B",   "KB",  "MB",  "GB",  "TB", "KiB",
                                                  "MiB", "GiB", "TiB", "kB",  "ns", "us",
                                                  "ms",  "s",   "sec", "secs"};

bool is_repetition(char c) {
  return std::string_view("*+?{").find(c) != std::string_view::npos;
}

/// The part of a pattern between two blanks.
struct Word {
  std::string text;     ///< RE2
  bool value = false;   ///< {n}, {w} and punctuation alone: masking may leave only `<*>`
  bool remark = false;  ///< a value in parentheses: masking may leave nothing
};

/// The end of the construct at `at`: an escape, a class, a repetition, or one character.
std::size_t behind_construct(std::string_view text, std::size_t at) {
  if (text[at] == '\\') return std::min(at + 2, text.size());
  const char close = text[at] == '[' ? ']' : text[at] == '{' ? '}' : '\0';
  if (close == '\0') return at + 1;
  std::size_t from = at + 1;
  if (close == ']' && text.substr(from).starts_with('^')) ++from;
  if (close == ']' && text.substr(from).starts_with(']')) ++from;
  while (from < text.size() && text[from] != close) {
    if (close == ']' && text.substr(from).starts_with("[:"))
      from = std::min(text.find(":]", from), text.size() - 1) + 1;
    else if (text[from] == '\\')
      ++from;
    ++from;
  }
  return std::min(from + 1, text.size());
}

/// Appends the letters and digits from `at` on; the digits of a name also match `<*>`, behind which
/// RE2 sees no end of a word. Moves `at` behind them.
void append_run(std::string& out, std::string_view text, std::size_t& at) {
  std::size_t end = at;
  while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
  const std::string_view run = text.substr(at, end - at);
  const bool name =
      std::ranges::any_of(run, is_letter) && (end == text.size() || !is_repetition(text[end]));
  for (std::size_t i = 0; i < run.size();) {
    std::size_t digits = i;
    while (digits < run.size() && is_digit(run[digits])) ++digits;
    if (name && digits > i && digits - i <= kNameDigitsMax) {
      out.append("(?:").append(run.substr(i, digits - i));
      if (digits == run.size() && text.substr(end).starts_with(kEdge)) {
        out.append(kEdge);
        end += kEdge.size();
      }
      out.append("|").append(kMaskedValue).append(")");
      i = digits;
    } else {
      out += run[i++];
    }
  }
  at = end;
}

bool at_value(std::string_view source, std::size_t at) {
  const auto value = source.substr(std::min(at, source.size()), 3);
  return value == "{n}" || value == "{w}";
}

/// Appends the number at `at` and the numbers joined to it (`{n},{n}`): masking makes one value of
/// them.
void append_numbers(std::string& out, std::string_view source, std::size_t& at) {
  out += kNumber;
  at += 3;
  while (at < source.size()) {
    const std::size_t mark = source[at] == '\\' ? at + 1 : at;
    if (mark >= source.size() || kJoins.find(source[mark]) == kJoins.npos) return;
    if (!at_value(source, mark + 1) || source[mark + 2] != 'n') return;
    out.append("(?:").append(source.substr(at, mark + 1 - at)).append(kNumber).append(")?");
    at = mark + 4;
  }
}

/// Appends the unit at the blank `at`.
void append_unit(std::string& out, std::string_view source, std::size_t& at) {
  const std::size_t begin = source.find_first_not_of(' ', at);
  at = begin;
  while (at < source.size() && is_letter(source[at])) ++at;
  out.append("(?: +").append(source.substr(begin, at - begin)).append(")?");
}

/// True for `.*:`, `.*\)` and the like: masking may have replaced the end of `.*` and the marks.
bool anything_and_marks(std::string_view source) {
  if (source.size() < 3 || !source.starts_with(".*")) return false;
  source.remove_prefix(2);
  return std::ranges::all_of(source,
                             [](char c) { return c == '\\' || kCloses.find(c) != kCloses.npos; });
}

/// Expands one word; `source` has no blank except before a unit.
Word read_word(std::string_view source) {
  Word word;
  if (anything_and_marks(source)) {
    word.text.append("(?:").append(source).append("|.*").append(kMaskedValue).append(")");
    return word;
  }
  bool values = false, other = false;
  for (std::size_t at = 0; at < source.size();) {
    const char c = source[at];
    const bool edge = source.substr(at).starts_with(kEdge);
    if (source.substr(at).starts_with("{n}")) {
      append_numbers(word.text, source, at);
      values = true;
    } else if (at_value(source, at)) {
      word.text += kWord;
      at += 3;
      values = true;
    } else if (edge && (at_value(source, at + 2) || (at >= 3 && at_value(source, at - 3)))) {
      at += 2;
    } else if (c == ' ' && at > 0 && source[at - 1] == '}' && at + 1 < source.size() &&
               is_letter(source[at + 1])) {
      append_unit(word.text, source, at);
    } else if (is_letter(c) || is_digit(c)) {
      append_run(word.text, source, at);
      other = true;
    } else {
      const std::size_t end = behind_construct(source, at);
      word.text += source.substr(at, end - at);
      const bool escaped = c == '\\' && end - at == 2 && !is_letter(source[at + 1]);
      other = other || !(escaped || kMarks.find(c) != kMarks.npos);
      at = end;
    }
  }
  word.value = values && !other;
  if (word.value && source.size() > 3)  // {n} and {w} match <*> anyway
    word.text = std::string("(?:").append(word.text).append("|").append(kMaskedValue).append(")");
  const std::size_t close = source.find_last_not_of(",:;");
  word.remark = word.value && source.starts_with("\\(") && close != source.npos &&
                source.substr(0, close + 1).ends_with("\\)");
  return word;
}

bool is_unit(std::string_view word) {
  for (const std::string_view mark : {":", ",", "\\]", "\\)"})
    if (word.ends_with(mark)) word.remove_suffix(mark.size());
  return std::ranges::find(kUnits, word) != kUnits.end();
}

/// Splits a pattern at its blanks, except blanks in a class, before a repetition sign, and before a
/// unit.
std::vector<std::string_view> split_pattern(std::string_view pattern) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end) {
    const std::string_view word = pattern.substr(begin, end - begin);
    const bool after_number = !words.empty() && words.back().ends_with("{n}");
    if (after_number && is_unit(word)) {
      const auto from = static_cast<std::size_t>(words.back().data() - pattern.data());
      words.back() = pattern.substr(from, end - from);
    } else if (!word.empty() || words.empty() || end == pattern.size()) {
      words.push_back(word);  // an empty word is a blank at the beginning or the end
    }
    begin = end + 1;
  };
  for (std::size_t at = 0; at < pattern.size();) {
    const bool repeated = at + 1 < pattern.size() && is_repetition(pattern[at + 1]);
    if (pattern[at] == ' ' && (!repeated || at_value(pattern, at + 1)))
      add(at++);
    else
      at = behind_construct(pattern, at);
  }
  add(pattern.size());
  return words;
}

}  // namespace

std::string expand_pattern(std::string_view pattern) {
  const std::vector<std::string_view> words = split_pattern(pattern);
  std::string regexp;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool first = i == 0;
    Word word = read_word(words[i]);
    if (word.remark && !first) {
      regexp.append("(?: +").append(word.text).append(")?");
      continue;
    }
    bool several = false;  // values in a row
    for (; word.value && i + 1 < words.size(); ++i, several = true) {
      const Word next = read_word(words[i + 1]);
      if (!next.value || next.remark) break;
      word.text.append(" +").append(next.text);
    }
    if (!first) regexp += " +";
    if (several)
      regexp.append("(?:").append(word.text).append("|").append(kMaskedValue).append(")");
    else
      regexp += word.text;
  }
  return regexp;
}

}  // namespace l4::faults
