// The texts that regexps require: examples, and that every match has them.
#include "aggregator/faults/literals.h"

#include <doctest/doctest.h>
#include <re2/re2.h>

#include <random>
#include <string>
#include <vector>

#include "aggregator/faults/pattern.h"

namespace l4::faults {
namespace {

using Groups = std::vector<std::vector<std::string>>;

TEST_CASE("literals: texts in every match") {
  struct Row {
    const char* pattern;
    Groups groups;
    std::size_t characters;
  };
  const std::vector<Row> rows{
      {"NCCL WARN Failed", {{"nccl warn failed"}}, 16},
      {"[Tt]ime[ ]out", {{"time out"}}, 8},
      {"took {n} ms", {{"took "}}, 5},
      {"a {w}: b", {{"a "}, {":", "<*>"}, {" b"}}, 5},
      {"Failed to (?:calloc|malloc) {n}", {{"failed to "}, {"calloc", "malloc"}, {" "}}, 17},
      {"link (?:is )?down", {{"link "}, {"down"}}, 9},
      {"colou?r ab*c d+e", {{"colo"}, {"r a"}, {"c d"}, {"e"}}, 11},
      {"error\\b.*\\(12\\)$", {{"error"}, {"(12)"}}, 9},
      {"(?i)Out Of Memory", {{"out of memory"}}, 13},
      {"(?P<what>abc)(?i:D)x{2}y{0,3}z", {{"abc"}, {"d"}, {"x"}, {"z"}}, 6},
      {"one|two", {{"one", "two"}}, 3},
      {"one|.*", {}, 0},
      {"a{b}c", {{"a{b}c"}}, 5},
      {"x[0-9a]\\d[^y]\\pLz", {{"x"}, {"z"}}, 2},
      {"\xc3\xa9t\xc3\xa9?s", {{"\xc3\xa9t"}, {"s"}}, 3},
      {"\\Qa.b\\E", {}, 0},
      {"", {}, 0},
  };
  for (const Row& row : rows) {
    const auto found = literals_of(expand_pattern(row.pattern));
    CHECK_MESSAGE(found.groups == row.groups, row.pattern);
    if (!found.groups.empty()) CHECK_MESSAGE(found.characters == row.characters, row.pattern);
  }
  CHECK(literals_of("ab.*cdef(?:x|yz)").longest() == 4);
  CHECK(literals_of("a*").longest() == 0);
}

/// Makes regexps and texts of few letters, so that they often match.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  std::string regexp(int depth = 3) {
    std::string made;
    for (unsigned parts = 1 + random_() % 4; parts > 0; --parts) made += part(depth);
    if (depth > 0 && random_() % 4 == 0) made += "|" + regexp(depth - 1);
    return made;
  }
  std::string text() {
    std::string made;
    for (unsigned size = random_() % 14; size > 0; --size) made += "aAbB  c."[random_() % 8];
    return made;
  }

 private:
  std::string part(int depth) {
    static const std::vector<std::string> atoms{"a",  "b",   " ",    "A",     "[aA]",        "[^a]",
                                                ".",  "\\b", "\\.",  "[a-c]", "[[:alpha:]]", "\\w",
                                                "c.", "ab",  "(?i)", "[]a]"};
    static const std::vector<std::string> times{"", "", "", "*", "+", "?", "{2}", "{0,1}", "+?"};
    std::string atom = atoms[random_() % atoms.size()];
    if (depth > 0 && random_() % 4 == 0)
      atom = (random_() % 2 == 0 ? "(?:" : "(?i:") + regexp(depth - 1) + ")";
    if (atom == "\\b" || atom == "(?i)") return atom;
    return atom + times[random_() % times.size()];
  }

  std::mt19937 random_;
};

TEST_CASE("literals: no regexp matches a text without its literals") {
  constexpr unsigned kSeed = 20;
  Maker make(kSeed);
  std::size_t matched = 0, left_out = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string source = expand_pattern(make.regexp());
    const re2::RE2 regexp(source, re2::RE2::Quiet);
    if (!regexp.ok()) continue;
    const Pattern pattern(source);
    for (int k = 0; k < 20; ++k) {
      const std::string text = make.text();
      const bool matches = re2::RE2::PartialMatch(text, regexp);
      const bool may = pattern.may_match(plain_form(text));
      matched += matches ? 1 : 0;
      left_out += may ? 0 : 1;
      CHECK_MESSAGE((may || !matches), "seed ", kSeed, ": ", source, " on '", text, "'");
    }
  }
  CHECK(matched > 1000);
  CHECK(left_out > 1000);
}

}  // namespace
}  // namespace l4::faults
