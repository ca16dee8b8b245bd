// The set has the same answers as its patterns one by one, at any number; too large ones are
// errors.
#include "aggregator/faults/pattern_set.h"

#include <doctest/doctest.h>
#include <re2/re2.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/faults/library.h"
#include "tests/aggregator/faults/made_library.h"

namespace l4::faults {
namespace {

TEST_CASE("pattern set: the same answers as one regexp after the other") {
  MadeLibrary made(300);
  PatternSet set;
  std::vector<std::unique_ptr<re2::RE2>> regexps;
  for (const std::string& pattern : made.patterns())
    if (set.add(pattern) == regexps.size())
      regexps.push_back(std::make_unique<re2::RE2>(expand_pattern(pattern)));
  for (const char* any : {"[0-9]{n}x", "ms", "(?i)LINK", "^NCCL.*$|^raylet"}) {
    set.add(any);
    regexps.push_back(std::make_unique<re2::RE2>(expand_pattern(any)));
  }
  set.build();
  std::vector<std::string> texts = made.lines();
  const auto harmless = made.harmless(300);
  texts.insert(texts.end(), harmless.begin(), harmless.end());
  for (const std::string& text : texts) {
    std::vector<PatternSet::Number> expected;
    for (std::uint32_t i = 0; i < regexps.size(); ++i)
      if (re2::RE2::PartialMatch(text, *regexps[i])) expected.push_back(i);
    CHECK_MESSAGE(set.matching(text) == expected, text);
  }
}

TEST_CASE("a library of 1,500 entries knows each of its lines, and no other") {
  MadeLibrary made(1500);
  const auto library = Library::load(made.folder());
  REQUIRE_MESSAGE(library.has_value(), library.error().text());
  CHECK(library->faults().size() == 1500);
  CHECK(library->find("made_1499")->family == "family29");
  for (const Fault& fault : library->faults())
    for (const std::string& line : fault.matches) {
      const auto found = library->match(line);
      CHECK_MESSAGE((found.size() == 1 && found.front() == &fault), line);
    }
  for (const std::string& text : made.harmless(1000))
    CHECK_MESSAGE(library->match(text).empty(), text);
}

TEST_CASE("a library is asked by many threads at once") {
  MadeLibrary made(100);
  const auto library = Library::load(made.folder());
  REQUIRE(library.has_value());
  std::atomic<std::size_t> found = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (const std::string& line : made.lines()) found += library->match(line).size();
      });
  }
  CHECK(found == 4 * made.lines().size());
}

TEST_CASE("pattern: one that needs too much memory is refused, not silent") {
  CHECK(error_of("(?:\\pL{100}x){9}").find("too large") != std::string::npos);
  CHECK(error_of("x{2000}") != "");
  CHECK(error_of("a|") == "matches every line");
  CHECK(error_of("failed after [0-9]{1,5} ms").empty());
}

TEST_CASE("pattern: states that do not fit into memory change no answer") {
  const std::string regexp = "begin[ab]*a[ab]{300}end";
  REQUIRE(error_of(regexp).empty());
  const Pattern pattern(regexp);
  std::string text = "begin";
  for (unsigned i = 0, x = 1; i < 3000; ++i, x = x * 1103515245u + 12345u)
    text += "ab"[x >> 30 & 1];
  text[text.size() - 301] = 'a';
  CHECK(pattern.matches(text + "end"));
  text[text.size() - 301] = 'b';
  CHECK_FALSE(pattern.matches(text + "end"));
}

}  // namespace
}  // namespace l4::faults
