#include "agent/decode/byte_marks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "agent/decode/clean.h"
#include "agent/decode/seams.h"

namespace l4::decode {
namespace {

bool is_odd(char c) {
  return static_cast<signed char>(c) < 0x20 ? c != '\t' && c != '\n' : c == 0x7f;
}

/// `[`, then digits and semicolons, then `m`.
bool is_colour(const std::string& text, std::size_t at) {
  if (text[at] != '[') return false;
  std::size_t end = at + 1;
  while (end < text.size() && (text[end] == ';' || (text[end] >= '0' && text[end] <= '9'))) ++end;
  return end > at + 1 && end < text.size() && text[end] == 'm';
}

std::string random_text(std::mt19937& random, std::size_t size) {
  constexpr std::string_view kRare("\n\r\t\x1b\x7f\0\xc3\x9f%", 9);
  constexpr std::string_view kOften = "[[[m0123456789;; ab]/:@";
  constexpr std::array<std::string_view, 5> kBegins{
      "a2024-01-01 10:00:00",
      "a[rank1]: ", "4[1,2]<stderr>:", "5srun: error: ", "z[I1126 22:07:06."};
  const bool rare = random() % 2 == 0;
  std::string text;
  while (text.size() < size) {
    const bool other = random() % (rare ? 40 : 8) == 0;
    text += other ? kRare[random() % kRare.size()] : kOften[random() % kOften.size()];
    if (random() % 12 == 0) text += kBegins[random() % kBegins.size()];
    if (random() % 16 == 0) text += '[' + std::string(random() % 90, '3') + "1m";
  }
  return text;
}

TEST_CASE("byte marks: every line end, and no line called plain that must be cleaned") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  ByteMarks marks;
  for (int i = 0; i < 3'000; ++i) {
    const std::string text = random_text(random, random() % (i % 2 == 0 ? 40 : 600));
    CAPTURE(text);
    marks.read(text);
    CHECK(marks.holds_cr() == (text.find('\r') != std::string::npos));
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t end = std::min(text.find('\n', from), text.size());
      REQUIRE(marks.line_end(from) == end);
      const std::string line = text.substr(from, end - from);
      bool odd = false;
      for (std::size_t at = 0; at < line.size(); ++at)
        odd = odd || is_odd(line[at]) || is_colour(line, at);
      CAPTURE(line);
      const ByteMarks::Signs signs = marks.signs(from, end);
      REQUIRE(signs.plain == !odd);
      REQUIRE(signs.percent == (line.find('%') != std::string::npos));
      bool seam = false;  // one of `srun: error: ` is looked for in another way
      for (std::size_t at = line.find(':', kSeamColumn); at < line.size();
           at = line.find(':', at + 1))
        seam =
            seam || (!line.substr(at).starts_with(": ") && seam_at(line, at) != std::string::npos);
      if (seam) REQUIRE(signs.seams);
      bool clock = false;
      for (std::size_t at = 3; at < line.size(); ++at)
        clock = clock || (line[at] == ':' && line[at - 3] == ':');
      if (clock) REQUIRE(signs.clocks);
      std::string scratch;
      Dirt dirt;
      if (!odd) REQUIRE(clean(line, scratch, dirt) == line);
      from = end + 1;
    }
  }
}

TEST_CASE("byte marks: the usual front of a line is no sign of a seam") {
  ByteMarks marks;
  for (const std::string line :
       {"2024-01-01 10:00:00,120 - INFO - done", "[rank3]:[W1120 x.cpp",
        "iteration 5/10 | loss: 2.2354E+00 | lr: 5.2E-05 | a ratio 12:30"}) {
    CAPTURE(line);
    marks.read(line);
    CHECK_FALSE(marks.signs(0, line.size()).seams);
  }
}

TEST_CASE("byte marks: nothing at all") {
  ByteMarks marks;
  CHECK(marks.line_end(0) == 0);
  marks.read("ab\n");
  marks.read("");
  CHECK(marks.line_end(0) == 0);
  CHECK(marks.signs(0, 0).plain);
}

}  // namespace
}  // namespace l4::decode
