// Patterns made of templates: varying parts may differ, constant parts must match.
#include "aggregator/faults/distil.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "aggregator/faults/library.h"
#include "common/drain/mask.h"
#include "common/parameters/parameters.h"

namespace l4::faults {
namespace {

using Names = std::vector<std::string>;

std::string template_of(const std::string& line) {
  return drain::text(drain::masked_row(line, drain::default_codes()));
}

Distilled distilled(const std::string& line, const Names& names = {}) {
  std::vector<wire::Parameter> parameters;
  parameters::extract(line, parameters);
  return distil(template_of(line), names, parameters);
}

TEST_CASE("distil: as the line reads, with anything where a value stood") {
  struct Row {
    const char* line;
    const char* pattern;
  };
  for (const Row& row : std::vector<Row>{
           {"ERROR data: shard 12 of corpus 7 is cut", "data: shard .* of corpus .* is cut"},
           {"[WARN] ring buffer (lane 3) overran", "ring buffer \\(lane .* overran"},
           {"cannot open /mnt/a/b.idx", "cannot open"},
           {"12 34 lost the seal 56", "lost the seal"},
           {"a+b? [x] {y} ^z$ | w\\v", "a\\+b\\? \\[x\\] \\{y\\} \\^z\\$ \\| w\\\\v"},
           {"17 18", ""},
       }) {
    CAPTURE(row.line);
    CHECK(distilled(row.line).pattern == row.pattern);
  }
}

TEST_CASE("distil: the same fault with other numbers, hosts and paths is matched") {
  const std::string line =
      "Shelf 0417 of /mnt/corpus/17 lost its ledger on node-02, peer alpha: 12.5 ms late";
  const auto made = distilled(line, {"node-02", "alpha"});
  Fault fault;
  fault.patterns = {made.pattern};
  const Library one = Library().with({fault});
  for (const char* other :
       {"Shelf 0417 of /mnt/corpus/17 lost its ledger on node-02, peer alpha: 12.5 ms late",
        "Shelf 3 of /data/c lost its ledger on gpu-b-31, peer beta: 700 s late",
        "Shelf 3 of x.idx lost its ledger on login, peer 10.0.0.7: 1 ms late"}) {
    CAPTURE(other);
    CHECK(one.match(other).size() == 1);
    CHECK(one.match(template_of(other)).size() == 1);
  }
  for (const char* other : {"Shelf 3 of /data/c kept its ledger on gpu-b-31, peer beta: 7 s late",
                            "Book 3 of /data/c lost its ledger on gpu-b-31, peer beta: 7 s late"})
    CHECK(one.match(other).empty());
}

TEST_CASE("distil: codes are conditions") {
  const auto made = distilled("write to /a/b failed: [Errno 28] No space left, exit code -9");
  REQUIRE(made.conditions.size() == 2);
  CHECK(made.conditions[0].kind == wire::ParameterKind::errno_value);
  CHECK(made.conditions[0].values == std::vector<std::string>{"28"});
  CHECK(made.conditions[1].kind == wire::ParameterKind::exit_code);
  const auto given = distil("the device said <*> and stopped", {},
                            std::vector<wire::Parameter>{{wire::ParameterKind::code, "Xid 79"}});
  REQUIRE(given.conditions.size() == 1);
  CHECK(given.conditions[0].values == std::vector<std::string>{"Xid 79"});
}

TEST_CASE("distil: a name is replaced as a whole, and long lines are cut") {
  CHECK(distil("rank lost rankine of host", Names{"rank"}, {}).pattern == "lost rankine of host");
  std::string words;
  for (int i = 0; i < 100; ++i) words += "word ";
  const auto made = distil(words, {}, {});
  CHECK(made.pattern.size() == 5 * kPatternWordsMax - 1);
  CHECK(made.characters >= kConstantMin);
  CHECK(line_of("shard <*> of <*>") == "shard 7 of 7");
}

}  // namespace
}  // namespace l4::faults
