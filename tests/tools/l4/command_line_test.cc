#include "tools/l4/command_line.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace l4::cli {
namespace {

CommandLine read(std::vector<const char*> words) {
  words.insert(words.begin(), "l4");
  return read_command_line(static_cast<int>(words.size()), words.data());
}

TEST_CASE("command line: options reach their command") {
  const auto line = read({"diagnose", "a", "-", "--history", "h1", "--history", "h2", "--top", "3",
                          "--threads", "2", "--tz=-05:00", "--as-of", "2026-11-20T16:00:00Z"});
  REQUIRE(line.command == CommandLine::Command::diagnose);
  CHECK(line.diagnose.paths == std::vector<std::filesystem::path>{"a", "-"});
  CHECK(line.diagnose.history.size() == 2);
  CHECK(line.diagnose.top == 3);
  CHECK(line.diagnose.zone == Millis{-5 * 3'600'000});
  CHECK(line.diagnose.as_of.has_value());
}

TEST_CASE("command line: wrong use ends with 2") {
  const std::vector<std::vector<const char*>> wrong{
      {},
      {"diagnsoe", "a"},
      {"diagnose"},
      {"diagnose", "a", "--top", "-1"},
      {"diagnose", "a", "--threads", "many"},
      {"diagnose", "a", "--no-such-option"},
      {"diagnose", "a", "--layout", "{planet}"},
      {"diagnose", "a", "--out", "/no/such/folder/report.json"},
      {"inspect", "a", "--format", "xml"}};
  for (const auto& words : wrong) {
    const auto line = read(words);
    CHECK(line.command == CommandLine::Command::done);
    CHECK(line.exit == kWrongUse);
  }
}

TEST_CASE("command line: a typo finds what was meant") {
  const std::vector<std::string> words{"--top", "--tz", "--threads", "--history"};
  CHECK(nearest_word("--tpo", words) == "--top");
  CHECK(nearest_word("--thread", words) == "--threads");
  CHECK(nearest_word("--hsitory", words) == "--history");
  CHECK(nearest_word("--frobnicate", words).empty());
}

}  // namespace
}  // namespace l4::cli
