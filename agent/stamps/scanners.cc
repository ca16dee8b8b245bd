#include "agent/stamps/scanners.h"

#include <algorithm>
#include <array>

#include "agent/text/level.h"

namespace l4::stamps {
namespace {

constexpr std::array kDays{text::first_three("Mon"), text::first_three("Tue"),
                           text::first_three("Wed"), text::first_three("Thu"),
                           text::first_three("Fri"), text::first_three("Sat"),
                           text::first_three("Sun")};

}  // namespace

bool level_follows(text::Cursor c) {
  while (!c.done() && !text::is_alpha(c.peek())) {
    if (text::is_digit(c.peek())) return false;
    ++c.at;
  }
  const std::size_t from = c.at;
  while (text::is_alpha(c.peek())) ++c.at;
  const std::string_view word = c.text.substr(from, c.at - from);
  return text::level_of_word(word) != Level::unknown ||
         text::level_of_spelled_word(word) != Level::unknown;
}

bool parse_program_host(text::Cursor& cursor, std::string_view& host) {
  text::Cursor c = cursor;
  c.skip_blanks();
  const std::size_t from = c.at;
  while (text::is_host(c.peek())) ++c.at;
  const std::string_view name = c.text.substr(from, c.at - from);
  if (name.empty() || !c.accept(' ') || text::level_of_word(name) != Level::unknown) return false;
  c.skip_blanks();
  const std::size_t program = c.at;
  while (text::is_host(c.peek()) || c.peek() == '/' || c.peek() == '@') ++c.at;
  if (c.at == program) return false;
  if (c.accept('[')) {
    std::int64_t pid = 0;
    if (!c.parse_number(1, 10, pid) || !c.accept(']')) return false;
  }
  if (c.peek() != ':') return false;
  host = name;
  cursor.at = program;
  return true;
}

bool parse_day_name(text::Cursor& c) {
  const bool found =
      std::find(kDays.begin(), kDays.end(), text::first_three(c.rest())) != kDays.end();
  c.at += found ? 3 : 0;
  return found;
}

}  // namespace l4::stamps
