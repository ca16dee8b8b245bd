#include "common/drain/codes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/ascii.h"

namespace l4::drain {
namespace {

constexpr std::size_t kGapMax = 16;    // blanks and punctuation between phrase and number
constexpr std::size_t kGroupMax = 64;  // bytes of a skipped group in parentheses
constexpr std::size_t kDigitsMax = 6;  // longer numbers are codes only by a rule with `digits`

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
}

bool is_hex_digit(char c) {
  return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

bool is_word_part(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

constexpr std::array<bool, 256> kGap = [] {
  std::array<bool, 256> gap{};
  for (const char c : std::string_view(" \t:=([#\"'")) gap[static_cast<unsigned char>(c)] = true;
  return gap;
}();

bool is_gap(char c) {
  return kGap[static_cast<unsigned char>(c)];
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

/// Index made of the last three bytes, the same for upper and lower case.
std::size_t ending_of(std::string_view before) {
  const auto bits = [&](std::size_t back) {
    return before.size() < back ? 0
                                : static_cast<unsigned char>(before[before.size() - back]) & 31U;
  };
  return bits(3) * 1024 + bits(2) * 32 + bits(1);
}

/// Like ending_of(), but the same for all digits: what stands before a run of digits is left out,
/// since runs may be of any length.
std::size_t like_ending_of(std::string_view before) {
  std::size_t index = 0;
  bool digit = false;
  for (std::size_t back = 1; back <= 3; ++back) {
    const char c = digit || before.size() < back ? '0' : before[before.size() - back];
    digit = is_digit(c);
    index = index * 32 + (digit ? 0 : static_cast<unsigned char>(c) & 31U);
  }
  return index;
}

bool ends_with_word(std::string_view before, std::string_view phrase) {
  if (before.size() < phrase.size()) return false;
  const std::string_view tail = before.substr(before.size() - phrase.size());
  if (!std::ranges::equal(tail, phrase, {}, lower)) return false;
  return before.size() == phrase.size() || !is_word_part(phrase.front()) ||
         !is_word_part(before[before.size() - phrase.size() - 1]);
}

/// True if `before` ends with `phrase`, where any digit equals any other.
bool ends_like(std::string_view before, std::string_view phrase) {
  while (!phrase.empty()) {
    if (before.empty()) return false;
    if (!is_digit(phrase.back())) {
      if (lower(before.back()) != phrase.back()) return false;
      before.remove_suffix(1);
      phrase.remove_suffix(1);
      continue;
    }
    if (!is_digit(before.back())) return false;
    while (!before.empty() && is_digit(before.back())) before.remove_suffix(1);
    while (!phrase.empty() && is_digit(phrase.back())) phrase.remove_suffix(1);
  }
  return true;
}

bool begins_with(std::string_view digits, std::string_view begin) {
  return digits.size() >= begin.size() &&
         std::ranges::equal(digits.substr(0, begin.size()), begin, {}, upper);
}

/// True if a number, including its sign or 0x, has the shape that the rule requires.
bool has_shape(std::string_view number, const CodeRule& rule) {
  if (number.front() == '-' || number.front() == '+') number.remove_prefix(1);
  if (rule.hex && number.size() > rule.digits &&
      (number.starts_with("0x") || number.starts_with("0X")))
    number.remove_prefix(2);
  if (rule.digits == 0 ? number.size() > kDigitsMax : number.size() != rule.digits) return false;
  if (!std::ranges::all_of(number, rule.hex ? is_hex_digit : is_digit)) return false;
  const auto begins = [&](const std::string& begin) { return begins_with(number, begin); };
  return rule.begins.empty() || std::ranges::any_of(rule.begins, begins);
}

std::uint32_t letter_bit(char c) {
  return 1U << (static_cast<unsigned char>(c) & 31U);
}

}  // namespace

CodeList::CodeList(std::vector<CodeRule> rules, std::vector<PrefixedCode> prefixed)
    : rules_(std::move(rules)), prefixed_(std::move(prefixed)) {
  constexpr std::uint32_t kShort = (2U << kDigitsMax) - 1;
  for (const CodeRule& rule : rules_) {
    for (const std::string& phrase : rule.after) note_ending(phrase);
    decimal_sizes_ |= rule.digits == 0 ? kShort : 1U << rule.digits;
    if (rule.hex) hex_sizes_ |= 5U << rule.digits;
  }
  for (const PrefixedCode& code : prefixed_)
    for (const std::string& prefix : code.prefixes) first_letters_ |= letter_bit(prefix.front());
}

/// Marks the phrase's last three bytes; a shorter phrase may follow any bytes.
void CodeList::note_ending(const std::string& phrase) {
  if (phrase.size() >= 3) {
    endings_.set(ending_of(phrase));
    like_endings_.set(like_ending_of(phrase));
    return;
  }
  for (char before = 0; before < 32; ++before) note_ending(before + phrase);
}

bool CodeList::may_end_phrase(std::string_view before) const {
  return endings_.test(ending_of(before));
}

bool CodeList::may_end_like(std::string_view before) const {
  return before.size() < 3 || like_endings_.test(like_ending_of(before));
}

bool CodeList::is_code(const char* line, std::string_view number) const {
  const auto size = static_cast<std::size_t>(number.data() - line);
  const std::string_view before = without_gap({line, size});
  if (before.empty()) return false;
  if (before.back() == ')') {
    const std::string_view outside = without_gap(without_group(before));
    return outside.size() < before.size() && ends_with_phrase(outside, number, true);
  }
  return may_end_phrase(before) && ends_with_phrase(before, number, false);
}

bool CodeList::may_precede(std::string_view before) const {
  const auto ends = [this](std::string_view text, bool across_group) {
    if (!may_end_like(text)) return false;
    const auto ends_text = [&](const std::string& phrase) { return ends_like(text, phrase); };
    return std::ranges::any_of(rules_, [&](const CodeRule& rule) {
      return (!across_group || rule.across_group) && std::ranges::any_of(rule.after, ends_text);
    });
  };
  const std::string_view close = without_gap(before);
  const std::string_view outside = without_gap(without_group(close));
  return ends(close, false) || (outside.size() < close.size() && ends(outside, true));
}

bool CodeList::ends_with_phrase(std::string_view before, std::string_view number,
                                bool across_group) const {
  const auto ends = [&](const std::string& phrase) { return ends_with_word(before, phrase); };
  return std::ranges::any_of(rules_, [&](const CodeRule& rule) {
    return (!across_group || rule.across_group) && std::ranges::any_of(rule.after, ends) &&
           has_shape(number, rule);
  });
}

bool CodeList::is_prefixed(std::string_view run) const {
  if ((first_letters_ & letter_bit(run.front())) == 0) return false;
  return std::ranges::any_of(prefixed_, [&](const PrefixedCode& code) {
    return std::ranges::any_of(code.prefixes, [&](const std::string& prefix) {
      return run.size() == prefix.size() + code.digits && run.starts_with(prefix) &&
             std::ranges::all_of(run.substr(prefix.size()), is_digit);
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
            "returned code", "return value", "exit-code"}},
          {"signal", {"signal", "signo", "sig"}},
          {"errno", {"errno", "err_no", "error number"}},
          {"http_status",
           {"status code", "status_code", "statuscode", "http", "http status", "http code",
            "http error", "httperror", "http/1.0", "http/1.1", "http/2"}},
          {"error_code", {"error code is"}},
          {"npu_runtime",
           {"error code", "error_code", "errcode", "errorcode", "retcode", "ret code", "ret",
            "result"},
           false,
           false,
           6,
           {"1070", "2070", "5070", "5078", "5079"}},
          {"npu_event",
           {"event id", "event_id", "eventid", "event code", "fault code", "fault_code",
            "faultcode", "error code"},
           false,
           true,
           8,
           {"80", "81", "8C", "40F", "4C1F"}},
          {"bmc_event",
           {"event code", "fault code", "fault_code", "faultcode", "error code", " |"},
           false,
           true,
           8,
           {"0000", "0100", "0200", "0300", "0500", "0600", "0800", "0D00", "0F00", "1200", "2400",
            "2800", "2900", "2C00", "5600", "6200"}},
          {"switch_alarm",
           {"alarmid", "assembledfaultcode", "faultcode"},
           false,
           true,
           8,
           {"00F1", "0852"}},
          {"hccl_result", {"errno"}, false, true, 16, {"0000000005"}},
          {"npu_status", {"cqe error status", "cqe err status", "recv msg err ret"}},
      },
      {{"ascend",
        {"E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "EA", "EB",
         "EC", "EE", "EF", "EH", "EI", "EJ", "EK", "EL", "EM", "EZ", "W4"},
        4},
       {"torch_npu", {"ERR"}, 5}});
  return list;
}

}  // namespace l4::drain
