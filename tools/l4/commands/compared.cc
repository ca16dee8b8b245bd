#include "tools/l4/commands/compared.h"

#include <algorithm>
#include <string_view>

#include "common/base/time.h"

namespace l4::commands {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

/// True for the id of a stored report, such as s1795363200000, and for a time.
bool is_moment(std::string_view text) {
  constexpr std::size_t kDigitsMin = 10;
  if (text.starts_with('s') && is_number(text.substr(1))) return text.size() > kDigitsMin;
  if (is_number(text)) return std::min(text.find('.'), text.size()) >= kDigitsMin;
  return parse_time(text).has_value();
}

bool is_file(const std::string& text) {
  std::error_code ignored;
  return text == "-" || text.find('/') != std::string::npos || text.ends_with(".json") ||
         std::filesystem::is_regular_file(text, ignored);
}

}  // namespace

Compared compared_with(const std::string& with, const std::string& job) {
  if (is_file(with)) return {with, {}, {}};
  if (is_moment(with)) return {{}, job, with};
  const std::size_t sign = with.rfind('@');
  if (sign != std::string::npos && sign > 0 && is_moment(std::string_view(with).substr(sign + 1)))
    return {{}, with.substr(0, sign), with.substr(sign + 1)};
  return {{}, with, {}};
}

}  // namespace l4::commands
