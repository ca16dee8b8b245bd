#include "agent/segment/decimal.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>

namespace l4::segment {
namespace {

/// Both read the same bytes as the same number, to the last bit.
void check_as_from_chars(std::string_view text) {
  CAPTURE(text);
  double value = 0, wanted = 0;
  const std::size_t size = read_decimal(text, value);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), wanted);
  if (code != std::errc{}) {
    CHECK(size == 0);
    return;
  }
  CHECK(size == static_cast<std::size_t>(end - text.data()));
  CHECK((std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(wanted) ||
         (std::isnan(value) && std::isnan(wanted))));
}

TEST_CASE("a decimal number is read as std::from_chars reads it") {
  for (const std::string_view text : {"",
                                      "-",
                                      ".",
                                      "1",
                                      "-0",
                                      "0.1",
                                      "1.",
                                      ".5",
                                      "-.5",
                                      "+1",
                                      "1e5",
                                      "1e05",
                                      "1.5E-07",
                                      "1e+22",
                                      "1e-22",
                                      "1e23",
                                      "1e400",
                                      "1e-400",
                                      "2.5.1",
                                      "1,975",
                                      "3.0E+00|",
                                      "1e",
                                      "1e+",
                                      "1e-1x",
                                      "1.5else",
                                      "nan",
                                      "-inf",
                                      "inf)",
                                      "0x10",
                                      "1e123",
                                      "1e012",
                                      "999999999999999",
                                      "9007199254740993",
                                      "0.000000000000000000000001",
                                      "123456789012345678901234567890"})
    check_as_from_chars(text);
}

TEST_CASE("any text of the signs of numbers is read as std::from_chars reads it") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (std::size_t size = random() % 24; text.size() < size;)
      text += random() % 4 == 0 ? ".eE-+, x"[random() % 8] : static_cast<char>('0' + random() % 10);
    check_as_from_chars(text);
  }
}

}  // namespace
}  // namespace l4::segment
