#include "tools/l4/commands/demo/recent_lines.h"

#include <algorithm>

namespace l4::commands::demo {
namespace {

constexpr std::string_view kVariable = "<*>";
constexpr std::size_t kTellingBytes = 8;  ///< a shorter text stands in many lines

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// The longest text between two variable parts.
std::string_view longest_part(std::string_view text) {
  std::string_view longest;
  while (true) {
    const std::size_t end = text.find(kVariable);
    const std::string_view part = trimmed(text.substr(0, end));
    if (part.size() > longest.size()) longest = part;
    if (end == std::string_view::npos) return longest;
    text.remove_prefix(end + kVariable.size());
  }
}

}  // namespace

void RecentLines::add(TimeMs at, const std::string& node, std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    lines_.push_back({at, node, std::string(lines.substr(0, std::min(end, kBytes)))});
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (lines_.size() > kLines) lines_.pop_front();
  }
}

std::optional<RecentLines::Line> RecentLines::first(const std::vector<std::string>& templates,
                                                    TimeMs from) const {
  std::vector<std::string_view> parts;
  for (const std::string& text : templates)
    if (const std::string_view part = longest_part(text); part.size() >= kTellingBytes)
      parts.push_back(part);
  const auto found = std::ranges::find_if(lines_, [&](const Line& line) {
    return line.at >= from && std::ranges::any_of(parts, [&](std::string_view part) {
             return line.text.find(part) != std::string::npos;
           });
  });
  return found == lines_.end() ? std::nullopt : std::optional(*found);
}

}  // namespace l4::commands::demo
