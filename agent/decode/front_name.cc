#include "agent/decode/front_name.h"

#include <algorithm>
#include <array>

#include "agent/text/level.h"
#include "agent/text/scan.h"

namespace l4::decode {
namespace {

bool is_source_file(std::string_view name) {
  static constexpr std::array<std::string_view, 12> kEnds{
      ".py", ".cc", ".cpp", ".c", ".h", ".cu", ".go", ".hpp", ".rs", ".js", ".pyx", ".sh"};
  if (name.substr(name.size() - std::min<std::size_t>(name.size(), 4)).find('.') == name.npos)
    return false;
  return std::any_of(kEnds.begin(), kEnds.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

/// Parses the separator behind a name and a blank: `3: `, `  | `, or the name of a container.
bool parse_separator(text::Cursor& c, FrontName& front) {
  std::int64_t rank = 0;
  if (c.parse_number(1, 6, rank)) {
    front.front = Front::rank;
    front.rank = Rank{static_cast<std::int32_t>(rank)};
    return c.accept(':') && (c.done() || c.peek() == ' ');
  }
  c.skip_blanks();
  if (c.accept('|')) {
    front.front = Front::bar;
    return c.done() || c.peek() == ' ';
  }
  const std::size_t from = c.at;
  while (text::is_lower(c.peek()) || text::is_digit(c.peek()) || c.peek() == '-') ++c.at;
  front.front = Front::container;
  return c.at > from + 1 && c.peek() == ' ' &&
         std::count(front.name.begin(), front.name.end(), '-') >= 2;
}

}  // namespace

bool host_like(std::string_view name) {
  if (name.size() < 2 || name.size() > 64 || !text::is_alnum(name.front()) ||
      !text::is_alnum(name.back()))
    return false;
  return !is_source_file(name);
}

std::optional<std::int32_t> label_of(std::string_view line, std::size_t& length) {
  text::Cursor c{line};
  while (c.peek() == ' ' && c.at < 6) ++c.at;
  std::int64_t value = 0;
  if (!c.parse_number(1, 6, value) || !c.accept(':') || !(c.done() || c.peek() == ' '))
    return std::nullopt;
  length = c.at;
  return static_cast<std::int32_t>(value);
}

std::optional<std::int32_t> bracket_label_of(std::string_view line, std::size_t& length) {
  text::Cursor c{line};
  std::int64_t value = 0;
  if (!c.accept('[') || !c.parse_number(1, 5, value) || !c.accept(']') ||
      !(c.done() || c.peek() == ' '))
    return std::nullopt;
  length = c.at;
  return static_cast<std::int32_t>(value);
}

FrontName front_name_of(std::string_view line) {
  std::size_t n = 0;
  while (n < line.size() && n < 65 && text::is_host(line[n])) ++n;
  if (n < 2 || n >= line.size() || (line[n] != ':' && line[n] != ' ')) return {};
  FrontName front{line.substr(0, n), Front::colon, n + 1, std::nullopt};
  if (line[n] == ':') {
    if (n + 1 < line.size() && line[n + 1] != ' ') return {};
  } else {
    text::Cursor c{line, n + 1};
    if (!parse_separator(c, front)) return {};
    front.length = c.at;
  }
  if (!host_like(front.name) || text::level_of_word(front.name) != Level::unknown ||
      text::is_exception_name(front.name))
    return {};
  return front;
}

}  // namespace l4::decode
