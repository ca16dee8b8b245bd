// A whole number in a line: its digits, the commas that part them in threes, and its total.
//
// Place in the flow: progress_grammar.h reads the counters of a line with it. Pure functions; no
// allocation; any bytes may be given. Positions are offsets into the line and may be its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/base/ascii.h"

namespace l4::segment {

inline std::size_t skip_blanks(std::string_view line, std::size_t at) {
  while (at < line.size() && is_blank(line[at])) ++at;
  return at;
}

/// Position of the first character from `at` on that is not a digit.
inline std::size_t digits_end(std::string_view line, std::size_t at) {
  while (at < line.size() && is_digit(line[at])) ++at;
  return at;
}

inline char at_or_blank(std::string_view line, std::size_t at) {
  return at < line.size() ? line[at] : ' ';
}

struct Whole {
  std::int64_t value = 0, total = 0;  ///< the total is 0 if none is printed
  std::size_t begin = 0, end = 0;     ///< with the total
  bool grouped = false;               ///< "5,000"
};

/// The number at `at`; its digits end before `end`. Too many digits give nothing.
std::optional<std::int64_t> number_at(std::string_view line, std::size_t at, std::size_t end);

/// The number with digits [begin, end) that goes on in groups of three, "5,000"; none if it does
/// not.
std::optional<Whole> grouped_number(std::string_view line, std::size_t begin, std::size_t end);

/// Reads the total behind "6/120", "6 / 120", "6 of 120", and with groups "6,000/12,000".
void read_total(std::string_view line, Whole& whole);

}  // namespace l4::segment
