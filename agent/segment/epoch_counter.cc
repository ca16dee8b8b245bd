#include "agent/segment/epoch_counter.h"

#include <charconv>

#include "common/base/ascii.h"

namespace l4::segment {

std::optional<std::int64_t> epoch_in(std::string_view message) {
  constexpr std::string_view kTail = "poch";
  for (auto at = message.find(kTail); at != message.npos; at = message.find(kTail, at + 1)) {
    const bool begins = at >= 1 && (message[at - 1] == 'e' || message[at - 1] == 'E') &&
                        (at == 1 || !is_name_letter(message[at - 2]));
    std::string_view rest = message.substr(at + kTail.size());
    if (!begins || rest.empty() || is_name_letter(rest.front())) continue;
    if (rest.starts_with("(train)")) rest.remove_prefix(std::string_view("(train)").size());
    const auto digits = rest.find_first_not_of(" \t:=[(#'\"");
    if (digits == rest.npos) continue;
    rest.remove_prefix(digits);
    std::int64_t epoch = 0;
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), epoch);
    const bool whole = end == rest.data() + rest.size() || *end != '.';
    if (code == std::errc{} && whole && epoch >= 0) return epoch;
  }
  return std::nullopt;
}

}  // namespace l4::segment
