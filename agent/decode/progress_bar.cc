#include "agent/decode/progress_bar.h"

#include "agent/text/scan.h"

namespace l4::decode {
namespace {

/// Parses ` 977/1013 [`, which stands behind the second `|` of the bar.
bool parse_counts(std::string_view line, std::size_t from, Bar& bar, std::size_t& bracket) {
  const std::size_t slash = line.find('/', from);
  if (slash == std::string_view::npos || slash + 1 >= line.size()) return false;
  std::size_t begin = slash;
  while (begin > from && text::is_digit(line[begin - 1])) --begin;
  text::Cursor done{line, begin};
  text::Cursor total{line, slash + 1};
  if (!done.parse_number(1, 15, bar.done) || !total.parse_number(1, 15, bar.total)) return false;
  total.skip_blanks();
  bracket = total.at;
  return total.peek() == '[';
}

}  // namespace

std::optional<Bar> find_bar(std::string_view line) {
  const std::size_t percent = line.find("%|");
  if (percent == std::string_view::npos || percent == 0 || percent > 120 ||
      !text::is_digit(line[percent - 1]))
    return std::nullopt;
  const std::size_t close = line.find('|', percent + 2);
  if (close == std::string_view::npos) return std::nullopt;
  Bar bar;
  std::size_t bracket = 0;
  if (!parse_counts(line, close + 1, bar, bracket)) return std::nullopt;
  const std::size_t end = line.find(']', bracket);
  if (end != std::string_view::npos) bar.behind = text::trim(line.substr(end + 1));
  return bar;
}

}  // namespace l4::decode
