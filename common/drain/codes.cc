#include "common/drain/codes.h"

#include <algorithm>
#include <utility>

namespace l4::drain {
namespace {

constexpr std::size_t kGapMax = 16;    // blanks and punctuation between phrase and number
constexpr std::size_t kGroupMax = 64;  // bytes of a skipped group in parentheses

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_word(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_gap(char c) {
  return c == ' ' || c == '\t' || c == ':' || c == '=' || c == '(' || c == '[' || c == '#' ||
         c == '"' || c == '\'';
}

/// `before` without the gap at its end.
std::string_view without_gap(std::string_view before) {
  std::size_t skipped = 0;
  while (!before.empty() && skipped < kGapMax && is_gap(before.back())) {
    before.remove_suffix(1);
    ++skipped;
  }
  return before;
}

/// `before` without a group in parentheses at its end; unchanged if there is none.
std::string_view without_group(std::string_view before) {
  if (before.empty() || before.back() != ')') return before;
  const std::string_view window = before.substr(before.size() - std::min(before.size(), kGroupMax));
  const std::size_t open = window.rfind('(');
  if (open == std::string_view::npos) return before;
  return before.substr(0, before.size() - window.size() + open);
}

/// Index by the last two bytes; upper and lower case give the same.
std::size_t ending_of(std::string_view before) {
  if (before.size() < 2) return 0;
  const auto bits = [](char c) { return static_cast<unsigned char>(c) & 31U; };
  return bits(before[before.size() - 2]) * 32 + bits(before.back());
}

bool ends_with_word(std::string_view before, std::string_view phrase) {
  if (before.size() < phrase.size()) return false;
  const std::string_view tail = before.substr(before.size() - phrase.size());
  if (!std::ranges::equal(tail, phrase, {}, lower)) return false;
  return before.size() == phrase.size() || !is_word(before[before.size() - phrase.size() - 1]);
}

}  // namespace

CodeList::CodeList(std::vector<CodeRule> rules, std::vector<PrefixedCode> prefixed)
    : rules_(std::move(rules)), prefixed_(std::move(prefixed)) {
  for (const CodeRule& rule : rules_) {
    for (const std::string& phrase : rule.after) endings_[ending_of(phrase)] = 1;
  }
}

bool CodeList::is_code(const char* line, const char* number) const {
  const std::string_view before = without_gap({line, static_cast<std::size_t>(number - line)});
  if (before.empty()) return false;
  if (before.back() == ')') {
    const std::string_view outside = without_gap(without_group(before));
    return outside.size() < before.size() && ends_with_phrase(outside, true);
  }
  return ends_with_phrase(before, false);
}

bool CodeList::ends_with_phrase(std::string_view before, bool across_group) const {
  if (endings_[ending_of(before)] == 0) return false;
  return std::ranges::any_of(rules_, [&](const CodeRule& rule) {
    return (!across_group || rule.across_group) &&
           std::ranges::any_of(rule.after, [&](const std::string& phrase) {
             return ends_with_word(before, phrase);
           });
  });
}

bool CodeList::is_prefixed(std::string_view run) const {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::ranges::any_of(prefixed_, [&](const PrefixedCode& code) {
    return std::ranges::any_of(code.prefixes, [&](const std::string& prefix) {
      return run.size() == prefix.size() + code.digits && run.starts_with(prefix) &&
             std::ranges::all_of(run.substr(prefix.size()), digit);
    });
  });
}

const CodeList& default_codes() {
  static const CodeList list(
      {
          {"xid", {"xid", "sxid"}, true},
          {"exit_code",
           {"exitcode", "exit code", "exit_code", "exit status", "exit_status", "exited with",
            "exited with code", "exited with status", "return code", "return_code", "returncode",
            "returned code"},
           false},
          {"signal", {"signal", "signo", "sig"}, false},
          {"errno", {"errno", "err_no", "error number"}, false},
          {"http_status",
           {"status code", "status_code", "statuscode", "http", "http status", "http code",
            "http error", "http/1.0", "http/1.1", "http/2"},
           false},
      },
      {{"ascend", {"EE", "EI"}, 4}});
  return list;
}

}  // namespace l4::drain
