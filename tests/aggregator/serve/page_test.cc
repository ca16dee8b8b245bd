#include "aggregator/serve/page.h"

#include <doctest/doctest.h>

using namespace l4::serve;
using Lines = std::vector<std::string>;

TEST_CASE("page: wrapping keeps words, line feeds and the bound") {
  CHECK(wrap("", 10, 3).empty());
  CHECK(wrap("one two three four", 9, 9) == Lines{"one two", "three", "four"});
  CHECK(wrap("first\nsecond", 20, 9) == Lines{"first", "second"});
  CHECK(wrap("abcdefghijkl", 5, 9) == Lines{"abcde", "fghij", "kl"});
  CHECK(wrap("one two three four", 9, 2) == Lines{"one two", "three fo…"});
  CHECK(wrap("one\ntwo", 9, 1) == Lines{"one …"});
  CHECK(wrap("  blanks   inside ", 30, 2) == Lines{"blanks   inside"});
}

TEST_CASE("page: rows stand beside a gutter and are cut") {
  Page page({.color = false, .width = 60});
  page.label("label");
  page.row("text");
  page.row(std::string(80, 'x'));
  page.gap();
  page.gap();
  page.label("facts");
  page.facts({"a", "", std::string(60, 'y'), "b"});
  page.label("lead");
  page.prose("do  ", "this\nthen that", 3, 2);
  CHECK(page.release() == "label     text\n          " + std::string(49, 'x') +
                              "…\n\n"
                              "facts     a · b\n"
                              "lead        do  this\n                then that\n");
}

TEST_CASE("page: colours end where they began and blanks are not coloured") {
  Page page({.color = true, .width = 60});
  page.title({{"CRASHED", Tone::bad}, {" · job  "}});
  page.title({{"x ", Tone::strong}, {"", Tone::bad}});
  CHECK(page.release() == "\x1b[1;31mCRASHED\x1b[0m · job\n\x1b[1mx\x1b[0m\n");
}
