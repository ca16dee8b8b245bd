#include "tools/l4/terminal/remarks.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "aggregator/serve/utf8.h"

namespace l4::terminal {
namespace {

std::vector<Remark> some() {
  return {{Mark::fine, "key", "is there", ""},
          {Mark::note, "access", "no tokens", ""},
          {Mark::look, "source",
           "/logs/\x1b[2J*: " + std::string("no log matches this ") +
               "pattern, and nothing stands near to it on this machine",
           "correct the pattern"}};
}

TEST_CASE("remarks: what is to be looked at is counted and said in words") {
  CHECK(count_looks(some()) == 1);
  CHECK(verdict(0) == "all is well");
  CHECK(verdict(1) == "1 thing to look at");
  CHECK(verdict(3) == "3 things to look at");
}

TEST_CASE("remarks: a page keeps its width, wraps below the text, and is harmless") {
  serve::Page page({.width = 60});
  append_remarks(page, some(), 60);
  const std::string text = page.release();
  CHECK(text.starts_with("ok    key     is there\nnote  access  no tokens\nLOOK  source  /logs/"));
  CHECK(text.ends_with("\n              → correct the pattern\n"));
  CHECK(text.find('\x1b') == text.npos);
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) CHECK(serve::cells(line) <= 60);
  CHECK(count == 5);
}

TEST_CASE("remarks: JSON has every field") {
  serve::JsonWriter json;
  write_remarks(json, some());
  const auto rows = nlohmann::json::parse(json.release());
  CHECK(rows.size() == 3);
  CHECK(rows[0]["state"] == "ok");
  CHECK(rows[0]["next"].is_null());
  CHECK(rows[2]["state"] == "look");
  CHECK(rows[2]["about"] == "source");
  CHECK(rows[2]["next"] == "correct the pattern");
}

}  // namespace
}  // namespace l4::terminal
