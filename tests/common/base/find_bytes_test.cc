#include "common/base/find_bytes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

namespace l4 {
namespace {

TEST_CASE("find_kind finds the same byte as a search one by one") {
  const auto kind = [](auto byte) { return (byte < 0x20) | (byte == '['); };
  for (std::size_t size = 0; size <= 50; ++size)
    for (std::size_t at = 0; at <= size; ++at)
      for (std::size_t hit = 0; hit <= size; ++hit) {
        std::string text(size, 'x');
        if (hit < size) text[hit] = hit % 3 == 0 ? '[' : hit % 3 == 1 ? '\x1f' : '\xE2';
        if (hit + 7 < size) text[hit + 7] = '[';
        const auto found =
            std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                         [](char c) { return static_cast<signed char>(c) < 0x20 || c == '['; });
        CAPTURE(size);
        CAPTURE(at);
        REQUIRE(find_kind(text, at, kind) == static_cast<std::size_t>(found - text.begin()));
      }
}

TEST_CASE("find_phrase finds what find does") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto letters = [&](std::size_t size) {
    std::string text;
    while (text.size() < size) text += "ab"[random() % 2];
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = letters(random() % 80), phrase = letters(random() % 9);
    const std::size_t at = random() % 90;
    CAPTURE(text);
    CAPTURE(phrase);
    CAPTURE(at);
    REQUIRE(find_phrase(text, phrase, at) == text.find(phrase, at));
  }
}

TEST_CASE("bits_of_block tells each byte of 64") {
  std::string text(64, 'x');
  for (const std::size_t at : {0, 1, 15, 16, 31, 47, 62, 63}) {
    text[at] = '7';
    const auto is_digit = [](auto byte) { return (byte >= '0') & (byte <= '9'); };
    CHECK(bits_of_block(text.data(), is_digit) == std::uint64_t{1} << at);
    text[at] = '\xB7';
    CHECK(bits_of_block(text.data(), is_digit) == 0);
    text[at] = 'x';
  }
}

}  // namespace
}  // namespace l4
