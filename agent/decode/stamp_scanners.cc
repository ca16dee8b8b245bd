#include "agent/decode/stamp_scanners.h"

#include <algorithm>
#include <array>

#include "agent/decode/level.h"

namespace l4::decode {
namespace stamps {
namespace {

constexpr std::array kDays{first_three("Mon"), first_three("Tue"), first_three("Wed"),
                           first_three("Thu"), first_three("Fri"), first_three("Sat"),
                           first_three("Sun")};

}  // namespace

bool take_program_host(Cursor& cursor, std::string_view& host) {
  Cursor c = cursor;
  c.skip_blanks();
  const std::size_t from = c.at;
  while (is_host(c.peek())) ++c.at;
  const std::string_view name = c.text.substr(from, c.at - from);
  if (name.empty() || !c.take(' ') || level_of_word(name) != Level::unknown) return false;
  c.skip_blanks();
  const std::size_t program = c.at;
  while (is_host(c.peek()) || c.peek() == '/' || c.peek() == '@') ++c.at;
  if (c.at == program) return false;
  if (c.take('[')) {
    std::int64_t pid = 0;
    if (!c.take_number(1, 10, pid) || !c.take(']')) return false;
  }
  if (c.peek() != ':') return false;
  host = name;
  cursor.at = program;
  return true;
}

void take_half_day(Cursor& c, Civil& civil) {
  if (c.take(" PM") || c.take(" pm")) {
    if (civil.hour < 12) civil.hour += 12;
  } else if (c.take(" AM") || c.take(" am")) {
    if (civil.hour == 12) civil.hour = 0;
  }
}

bool take_day_name(Cursor& c) {
  const bool found = std::find(kDays.begin(), kDays.end(), first_three(c.rest())) != kDays.end();
  c.at += found ? 3 : 0;
  return found;
}

}  // namespace stamps
}  // namespace l4::decode
