#include "common/base/outline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <regex>
#include <string>
#include <unordered_map>

#include "common/base/collapse.h"
#include "common/base/outline_memo.h"

namespace l4 {
namespace {

/// The outline, as its definition says: each run of digits is one sign, and so is each run of
/// hexadecimal digits behind `0x`.
std::string collapsed(const std::string& line) {
  static const std::regex kHex("(^|[^0-9])0x[0-9a-fA-F]+"), kDigits("[0-9]+");
  const std::string marked = std::regex_replace(line, kHex, "$1\x02x\x03");
  return std::regex_replace(marked, kDigits, "\x02");
}

std::string sized(const std::string& line) {
  static const std::regex kDigit("[0-9]"), kNumber("(^|[^0-9])0x([0-9a-fA-F]+)");
  std::string text = line;
  for (std::smatch found; std::regex_search(text, found, kNumber);) {
    const std::string hex(static_cast<std::size_t>(found.length(2)), '\x03');
    text = found.prefix().str() + found.str(1) + "\x02x" + hex + found.suffix().str();
  }
  return std::regex_replace(text, kDigit, "\x02");
}

TEST_CASE("lines have the same outline if, and only if, they differ in digits alone") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::unordered_map<std::string, std::uint64_t> collapsed_of, sized_of;
  std::unordered_map<std::uint64_t, std::string> text_of, sizes_of;
  for (int i = 0; i < 60'000; ++i) {
    std::string line;
    const std::size_t size = i % 3 == 0 ? random() % 200 : random() % 8;
    while (line.size() < size) {
      const std::size_t many = i % 3 == 0 ? random() % 40 + 1 : 1;
      const char c =
          random() % 2 == 0 ? static_cast<char>('0' + random() % 10) : "agF \xC3"[random() % 5];
      if (random() % 4 == 0) line += "0x";
      for (std::size_t k = 0; k < many; ++k)
        line += c >= '0' && c <= '9' ? "0123456789abcdE"[random() % (10 + c % 2 * 5)] : c;
    }
    CAPTURE(line);
    const Outline outline = outline_of(line);
    if (line.empty()) {
      CHECK(outline.collapsed == 0);
      continue;
    }
    CollapsedText here, portably;
    const CollapsedLine quick = collapse(line, here), plain = collapse_portably(line, portably);
    REQUIRE(quick.size == plain.size);
    CHECK(std::equal(here.data(), here.data() + quick.size, portably.data()));
    CHECK(quick.digits == plain.digits);
    CHECK(collapsed_of.try_emplace(collapsed(line), outline.collapsed).first->second ==
          outline.collapsed);
    CHECK(sized_of.try_emplace(sized(line), outline.sized).first->second == outline.sized);
    CHECK(text_of.try_emplace(outline.collapsed, collapsed(line)).first->second == collapsed(line));
    CHECK(sizes_of.try_emplace(outline.sized, sized(line)).first->second == sized(line));
  }
  CHECK(outline_of(std::string(Outline::kBytesMax, 'a')).collapsed != 0);
  CHECK(outline_of(std::string(Outline::kBytesMax + 1, 'a')).collapsed == 0);
}

struct Asked {
  explicit Asked(std::size_t entries_max = 100) : memo(entries_max) {}

  /// The answer of the memo, or of `find_out`, for a line.
  template <class FindOut>
  std::size_t operator()(const std::string& line, const FindOut& find_out, bool varies = false) {
    const Outline outline = outline_of(line);
    if (const std::size_t* known = memo.find(outline)) return ++remembered, *known;
    const std::size_t value = find_out(line);
    memo.note(outline, line, value, find_out, [&](std::string_view) { return varies; });
    return value;
  }

  OutlineMemo<std::size_t> memo;
  int remembered = 0;
};

TEST_CASE("a memo remembers what does not depend on digits") {
  Asked asked;
  const auto letters = [](std::string_view line) {
    return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return c > '9'; }));
  };
  for (int i = 0; i < 1000; ++i) CHECK(asked("step " + std::to_string(i), letters) == 4);
  CHECK(asked.remembered == 996);
  CHECK(asked.memo.size() == 1);
}

TEST_CASE("a memo never answers what depends on digits") {
  Asked asked;
  SUBCASE("on which there are") {
    const auto last = [](std::string_view line) { return static_cast<std::size_t>(line.back()); };
    for (int i = 0; i < 1000; ++i) {
      const std::string line = "step " + std::to_string(i);
      CHECK(asked(line, last) == last(line));
    }
    CHECK(asked.remembered == 0);
  }
  SUBCASE("on how many: then it remembers each number of them") {
    const auto size = [](std::string_view line) { return line.size(); };
    for (int i = 0; i < 1000; ++i) {
      const std::string line = "step " + std::to_string(i);
      CHECK(asked(line, size) == size(line));
    }
    CHECK(asked.remembered > 900);
  }
  SUBCASE("as its owner knows") {
    const auto is_79 = [](std::string_view line) { return std::size_t{line.ends_with(" 79")}; };
    for (int i = 0; i < 100; ++i) {
      const std::string line = "Xid: " + std::to_string(i);
      CHECK(asked(line, is_79, true) == is_79(line));
    }
    CHECK(asked.remembered == 0);
  }
}

TEST_CASE("a line is tried with other digits, also with other hexadecimal ones") {
  std::string out;
  const auto probed = [&](std::string_view line, const DigitProbe& with) {
    return std::string(probe(line, with, out));
  };
  CHECK(probed("rank 12 of 8", {"286"}) == "rank 286 of 286");
  CHECK(probed("rank 12 of 8", {"", '4'}) == "rank 44 of 4");
  CHECK(probed("at 0xdead12, 0x, 10x1", {"286"}) == "at 0x2c6, 286x, 286x286");
  CHECK(probed("at 0xdead12, 0x, 10x1", {"", '0'}) == "at 0x0a0a0a, 0x, 00x0");
  CHECK(probed("0xDEADg1", {"", '9'}) == "0xddddg9");
  CHECK(probed("0xDEADg1", {"", '4'}) == "0x4444g4");
  CHECK(probed("", {"", '4'}).empty());
}

TEST_CASE("a line of any length is tried with other digits, and nothing else changes") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  static const std::regex kRuns("[0-9]+"), kEach("[0-9]");
  std::string out;
  for (int i = 0; i < 5'000; ++i) {
    std::string line;
    for (std::size_t size = random() % 120; line.size() < size;)
      line.append(random() % 20, "ab_ .:x\xC3"[random() % 8])
          .append(random() % 30, static_cast<char>('1' + random() % 9));
    CAPTURE(line);
    for (const DigitProbe& with : kOtherLengths)
      CHECK(probe(line, with, out) == std::regex_replace(line, kRuns, std::string(with.run)));
    for (const DigitProbe& with : kOtherDigits)
      CHECK(probe(line, with, out) == std::regex_replace(line, kEach, std::string(1, with.digit)));
  }
}

TEST_CASE("a memo answers for hexadecimal numbers what does not depend on them") {
  Asked asked;
  std::mt19937 random(5);
  const auto hex = [&](std::size_t size) {
    std::string number;
    while (number.size() < size) number += "0123456789abcdef"[random() % 16];
    return number;
  };
  SUBCASE("at all") {
    for (int i = 0; i < 1000; ++i)
      CHECK(asked("comm 0x" + hex(1 + random() % 16),
                  [](std::string_view line) { return line.find("0x"); }) == 5);
    CHECK(asked.remembered == 996);
  }
  SUBCASE("but for their letters") {
    const auto letters = [](std::string_view line) {
      return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return c > '9'; }));
    };
    for (int i = 0; i < 1000; ++i) {
      const std::string line = "comm 0x" + hex(8);
      CHECK(asked(line, letters) == letters(line));
    }
    CHECK(asked.remembered == 0);
  }
}

TEST_CASE("a full memo begins anew") {
  Asked asked(10);
  const auto size = [](std::string_view) { return std::size_t{7}; };
  for (int i = 0; i < 2000; ++i) {
    CHECK(asked(std::string(static_cast<std::size_t>(i % 40 + 1), 'x'), size) == 7);
    CHECK(asked.memo.size() <= 10);
  }
}

}  // namespace
}  // namespace l4
