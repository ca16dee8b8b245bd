#include "common/parameters/npu_codes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "common/parameters/by_first_letters.h"
#include "common/parameters/parameter_words.h"

namespace l4::parameters {
namespace {

using namespace words;

/// Numbers allowed behind a phrase: those of a known shape alone, or any short one.
struct Phrase {
  std::string_view low;
  std::string_view any;  ///< prefix of the value for a number without a known shape
};

// If one phrase begins another, the longer one comes first.
constexpr std::array<Phrase, 20> kPhraseList{{{"alarmid", ""},
                                              {"assembledfaultcode", ""},
                                              {"cqe error status", "CQE "},
                                              {"cqe err status", "CQE "},
                                              {"hdc recv msg err ret", "HDC "},
                                              {"error code is", "error "},
                                              {"error code", ""},
                                              {"error_code", ""},
                                              {"errorcode", ""},
                                              {"errcode", ""},
                                              {"errno", ""},
                                              {"event code", ""},
                                              {"event id", ""},
                                              {"event_id", ""},
                                              {"eventid", ""},
                                              {"fault code", ""},
                                              {"fault_code", ""},
                                              {"faultcode", ""},
                                              {"ret", ""},
                                              {"result", ""}}};
constexpr ByFirstLetters kPhrases(kPhraseList);

constexpr std::array<std::string_view, 5> kRuntime{"1070", "2070", "5070", "5078", "5079"};
constexpr std::array<std::string_view, 5> kNpu{"80", "81", "8C", "40F", "4C1F"};
constexpr std::array<std::string_view, 16> kBmc{"0000", "0100", "0200", "0300", "0500", "0600",
                                                "0800", "0D00", "0F00", "1200", "2400", "2800",
                                                "2900", "2C00", "5600", "6200"};
constexpr std::array<std::string_view, 2> kSwitch{"00F1", "0852"};
constexpr std::string_view kHccl = "0000000005";

bool is_gap(char c) {
  return std::string_view(" \t:=([#\"'").find(c) != std::string_view::npos;
}

template <std::size_t N>
bool begins_any(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::ranges::any_of(list, [&](std::string_view begin) { return text.starts_with(begin); });
}

/// The value of a number by its shape; empty for an unknown shape.
std::string spell(std::string_view digits, bool marked_hex) {
  const bool decimal = std::ranges::all_of(digits, is_digit);
  if (!marked_hex && decimal && digits.size() == 6 && begins_any(digits, kRuntime))
    return "ACL " + std::string(digits);
  std::string upper(digits);
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  if (digits.size() == 8 && begins_any(upper, kNpu)) return "NPU 0x" + upper;
  if (digits.size() == 8 && begins_any(upper, kBmc)) return "BMC 0x" + upper;
  if (digits.size() == 8 && begins_any(upper, kSwitch)) return "switch 0x" + upper;
  if (digits.size() == 16 && upper.starts_with(kHccl)) {
    std::uint32_t result = 0;
    std::from_chars(upper.data() + 12, upper.data() + 16, result, 16);
    return "HCCL " + std::to_string(result);
  }
  return {};
}

/// The number behind `from` bytes of a phrase.
NpuCode number_at(std::string_view text, std::size_t from, std::string_view any) {
  constexpr std::size_t kGapMax = 16;
  std::size_t at = from;
  while (at < text.size() && at - from < kGapMax && is_gap(text[at])) ++at;
  if (at == from) return {};
  const bool marked = begins(text.substr(at), "0x");
  if (marked) at += 2;
  const auto run = front_while(text.substr(at), is_word);
  if (run.empty() || run.size() > 16 || !std::ranges::all_of(run, is_hex)) return {};
  std::string value = spell(run, marked);
  if (value.empty() && !any.empty() && run.size() <= 6 && std::ranges::all_of(run, is_digit))
    value = std::string(any) + std::string(run);
  return value.empty() ? NpuCode{} : NpuCode{std::move(value), at + run.size()};
}

}  // namespace

NpuCode npu_code_after_phrase(std::string_view text) {
  if (text.empty()) return {};
  for (const Phrase& phrase : kPhrases.of(text)) {
    if (!begins(text, phrase.low)) continue;
    if (auto found = number_at(text, phrase.low.size(), phrase.any); found.size != 0) return found;
  }
  return {};
}

NpuCode npu_code_in_table(std::string_view text, std::string_view before) {
  while (before.ends_with(' ')) before.remove_suffix(1);
  if (!before.ends_with(" |") || !begins(text, "0x")) return {};
  const auto run = front_while(text.substr(2), is_word);
  if (run.size() != 8 || !std::ranges::all_of(run, is_hex)) return {};
  std::string value = spell(run, true);
  return value.empty() ? NpuCode{} : NpuCode{std::move(value), 2 + run.size()};
}

}  // namespace l4::parameters
