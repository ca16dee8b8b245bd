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
  constexpr std::ptrdiff_t kDigitsMax = 15;
  static constexpr std::array<double, 23> kPowers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char *const front = text.data(), *const back = front + text.size();
  const auto slowly = [&]() -> std::size_t {
    const auto [end, code] = std::from_chars(front, back, value);
    return code == std::errc{} ? static_cast<std::size_t>(end - front) : 0;
  };
  std::uint64_t digits = 0;
  const auto read = [&](const char* at) {
    for (; at != back && is_digit(*at); ++at)
      digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
    return at;
  };
  const bool negative = front != back && *front == '-';
  const char* const begin = front + (negative ? 1 : 0);
  const char* end = read(begin);
  const std::ptrdiff_t whole = end - begin;
  std::ptrdiff_t fraction = 0;
  if (end != back && *end == '.') {
    const char* const from = end + 1;
    end = read(from);
    fraction = end - from;
    if (fraction == 0) return slowly();
  }
  if (whole == 0 || whole + fraction > kDigitsMax) return slowly();
  std::ptrdiff_t power = -fraction;
  if (end != back && (*end | 0x20) == 'e') {
    // A sign and two digits are usual.
    const bool usual = back - end >= 4 && (end[1] == '-' || end[1] == '+') && is_digit(end[2]) &&
                       is_digit(end[3]) && (back - end == 4 || !is_digit(end[4]));
    if (!usual) return slowly();
    const int exponent = (end[2] - '0') * 10 + (end[3] - '0');
    power += end[1] == '-' ? -exponent : exponent;
    end += 4;
  }
  if (power < -22 || power > 22) return slowly();
  const auto number = static_cast<double>(digits);
  const double size = power < 0 ? number / kPowers[static_cast<std::size_t>(-power)]
                                : number * kPowers[static_cast<std::size_t>(power)];
  value = negative ? -size : size;
  return static_cast<std::size_t>(end - front);
}

}  // namespace l4::segment
