#include "agent/segment/literal_index.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using l4::segment::LiteralIndex;

namespace {

LiteralIndex index_of(const std::vector<std::string>& literals) {
  LiteralIndex index;
  for (const std::string& literal : literals) index.add(literal);
  index.build();
  return index;
}

}  // namespace

TEST_CASE("literal index: a literal is found at any position of a message") {
  const std::vector<std::string> literals{"iteration ", "iter", "ration 5", "samples/s",
                                          "iteration "};
  const LiteralIndex index = index_of(literals);
  for (const std::string message :
       {"iteration 5 of 9", "an iteration 5", "iter", "12 samples/s", ""}) {
    const std::vector<bool> found = index.may_hold(message);
    for (std::size_t i = 0; i < literals.size(); ++i) {
      CAPTURE(message);
      CAPTURE(literals[i]);
      if (message.find(literals[i]) != std::string::npos) CHECK(found[i]);
    }
  }
}

TEST_CASE("literal index: a literal that shares no four bytes with a message is ruled out") {
  const LiteralIndex index = index_of({"elapsed time", "loss: "});
  CHECK(index.may_hold("step 7, loss: 2.5") == std::vector<bool>{false, true});
  CHECK(index.may_hold("abc") == std::vector<bool>{false, false});
}

TEST_CASE("literal index: a literal of less than four bytes may stand anywhere") {
  const LiteralIndex index = index_of({"", "%|", "100%|"});
  CHECK(index.may_hold("") == std::vector<bool>{true, true, false});
  CHECK(index_of({"it"}).may_hold("done") == std::vector<bool>{true});
}
