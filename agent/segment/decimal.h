// Reads a decimal number at the front of a text: the same value and length as std::from_chars, but
// numbers of up to fifteen digits, as logs print, cost little more than half of it.
//
// Place in the flow: figures and timers of each line that prints some are read with it.
// Such a number is an integer below 2^53 and a power of ten up to 10^22, which a double holds
// exactly, so that one multiplication or division rounds correctly (Clinger, "How to read floating
// point numbers accurately", 1990). All others, nan and inf among them, are left to from_chars.
// Pure function, no allocation.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "common/base/ascii.h"

namespace l4::segment {

/// Bytes of the number at the front of `text`, whose value is in `value`; 0 if there is none or it
/// is beyond the range of a double.
inline std::size_t read_decimal(std::string_view text, double& value) {
  constexpr std::size_t kDigitsMax = 15;
  constexpr std::array<double, 23> kPowers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const auto peek = [&](std::size_t at) { return at < text.size() ? text[at] : ' '; };
  std::uint64_t digits = 0;
  const auto read = [&](std::size_t at) {
    for (; is_digit(peek(at)); ++at)
      digits = digits * 10 + static_cast<std::uint64_t>(text[at] - '0');
    return at;
  };
  const auto slowly = [&]() -> std::size_t {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc{} ? static_cast<std::size_t>(end - text.data()) : 0;
  };
  const std::size_t begin = peek(0) == '-' ? 1 : 0;
  std::size_t end = read(begin);
  const std::size_t whole = end - begin;
  std::size_t fraction = 0;
  if (peek(end) == '.') {
    const std::size_t from = end + 1;
    end = read(from);
    fraction = end - from;
    if (fraction == 0) return slowly();
  }
  if (whole == 0 || whole + fraction > kDigitsMax) return slowly();
  int power = -static_cast<int>(fraction);
  if ((peek(end) | 0x20) == 'e') {
    const char sign = peek(end + 1);
    const std::size_t from = end + (sign == '-' || sign == '+' ? 2 : 1);
    if (!is_digit(peek(from)) || !is_digit(peek(from + 1)) || is_digit(peek(from + 2)))
      return slowly();  // two digits are usual
    const int exponent = (text[from] - '0') * 10 + (text[from + 1] - '0');
    power += sign == '-' ? -exponent : exponent;
    end = from + 2;
  }
  if (power < -22 || power > 22) return slowly();
  const auto whole_number = static_cast<double>(digits);
  const double size = power < 0 ? whole_number / kPowers[static_cast<std::size_t>(-power)]
                                : whole_number * kPowers[static_cast<std::size_t>(power)];
  value = begin == 1 ? -size : size;
  return end;
}

}  // namespace l4::segment
