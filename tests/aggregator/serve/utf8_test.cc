#include "aggregator/serve/utf8.h"

#include <doctest/doctest.h>

using namespace l4::serve;

TEST_CASE("utf8: harmless text shows what acts and keeps what shows") {
  CHECK(harmless("plain é 迭代") == "plain é 迭代");
  CHECK(harmless("a\tb\nc\r") == "a b c ");
  CHECK(harmless("\x1b[2J\x07\x7f") == "␛[2J␇␡");
  CHECK(harmless(std::string_view("\0", 1)) == "␀");
  CHECK(harmless("\xc2\x9b"
                 "31m \xe2\x80\xae") == "�31m �");
}

TEST_CASE("utf8: what is no UTF-8 becomes one sign per byte") {
  CHECK(harmless("\xff") == "�");
  CHECK(harmless("\xc0\x80") == "��");            // overlong
  CHECK(harmless("\xed\xa0\x80") == "���");       // surrogate
  CHECK(harmless("\xf4\x90\x80\x80") == "����");  // past the last code point
  CHECK(harmless("\xe2\x82") == "��");            // cut short
}

TEST_CASE("utf8: cutting counts cells and marks the cut") {
  CHECK(cut("abcdef", 6) == "abcdef");
  CHECK(cut("abcdef", 5) == "abcd…");
  CHECK(cut("abcdef", 1) == "…");
  CHECK(cut("abcdef", 0) == "");
  CHECK(cut("迭代次", 6) == "迭代次");
  CHECK(cut("迭代次", 5) == "迭代…");
  CHECK(cut("迭代次", 4) == "迭…");
  CHECK(cells("é迭a") == 4);
}
