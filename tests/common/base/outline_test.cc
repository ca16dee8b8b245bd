#include "common/base/outline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <unordered_map>

#include "common/base/collapse.h"
#include "common/base/outline_memo.h"

namespace l4 {
namespace {

/// The outline, as its definition says: each run of digits is one sign.
std::string collapsed(const std::string& line) {
  std::string text;
  for (const char c : line) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) text += c;
    if (digit && (text.empty() || text.back() != '\0')) text += '\0';
  }
  return text;
}

std::string sized(std::string line) {
  for (char& c : line)
    if (c >= '0' && c <= '9') c = '\0';
  return line;
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
          random() % 2 == 0 ? static_cast<char>('0' + random() % 10) : "ab \xC3"[random() % 4];
      for (std::size_t k = 0; k < many; ++k)
        line += c >= '0' && c <= '9' ? static_cast<char>('0' + random() % 10) : c;
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

  /// What the memo, or `find_out`, says of a line.
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
