#include "agent/decode/clean.h"

#include <doctest/doctest.h>

#include <string>

namespace l4::decode {
namespace {

struct CleanRow {
  std::string dirty, clean;
};

TEST_CASE("clean: ANSI, also without ESC, control bytes, UTF-8") {
  using namespace std::string_literals;
  const CleanRow rows[] = {
      {"plain text\twith tab", "plain text\twith tab"},
      {"\x1b[32mINFO\x1b[0m done", "INFO done"},
      {"\x1b[36m(main pid=1)\x1b[0m x", "(main pid=1) x"},
      {"[93m [WARNING] [0m sparse_attn", " [WARNING]  sparse_attn"},
      {"ninja [92m[OKAY][0m", "ninja [OKAY]"},
      {"\x1b[1;31mred\x1b[0m", "red"},
      {"\x1b]0;title\x07text", "text"},
      {"\x1b[2K\x1b[1Atext", "text"},
      {"range [5m] and [10] and [300ms]", "range [5m] and [10] and [300ms]"},
      {"nul\0byte"s, "nulbyte"},
      {"\xe2\x96\x88\xe2\x96\x88 bar", "\xe2\x96\x88\xe2\x96\x88 bar"},
      {"bad \xff\xfe end", "bad \xef\xbf\xbd\xef\xbf\xbd end"},
      {"cut \xe2\x96", "cut \xef\xbf\xbd\xef\xbf\xbd"},
      {"over \xc0\xaf", "over \xef\xbf\xbd\xef\xbf\xbd"},
      {"\x1b", ""},
      {"\x1b[", ""},
  };
  for (const CleanRow& row : rows) {
    CAPTURE(row.dirty);
    std::string scratch;
    Dirt dirt;
    CHECK(std::string{clean(row.dirty, scratch, dirt)} == row.clean);
  }
}

TEST_CASE("clean: bytes that were replaced or dropped are counted") {
  using namespace std::string_literals;
  std::string scratch;
  Dirt dirt;
  clean("\xff\0\0\x01\x02 \xfe"s, scratch, dirt);
  CHECK(dirt.invalid_utf8 == 2);
  CHECK(dirt.nul_bytes == 2);
  CHECK(dirt.control_bytes == 2);
}

TEST_CASE("clean: binary data are no text, broken text is") {
  const auto no_text = [](std::string_view line) {
    std::string scratch;
    Dirt dirt;
    clean(line, scratch, dirt);
    return is_no_text(line.size(), dirt);
  };
  std::string random;
  for (std::uint32_t state = 1; random.size() < 300; state = state * 1664525 + 1013904223)
    random += static_cast<char>(state >> 24);
  CHECK(no_text(random));
  CHECK(no_text("\x01\xff\x02"));
  CHECK_FALSE(no_text(""));
  CHECK_FALSE(no_text("loss \xff\xfe\xc3( nan \xed\xa0\x80"));
  CHECK_FALSE(no_text("\xb4\xed\xce\xf3\xa3\xba\xc4\xda\xb4\xe6\xb2\xbb\xd7\xe3"));  // GBK
  CHECK_FALSE(no_text("\x1b[1mdone\x1b(B\x1b[m\x0f"));
  CHECK_FALSE(no_text(std::string(4096, '\0') + "2026-11-20T15:54:00Z ERROR late"));
  CHECK_FALSE(no_text("step 7\x01 of 9, and all is well"));
}

}  // namespace
}  // namespace l4::decode
