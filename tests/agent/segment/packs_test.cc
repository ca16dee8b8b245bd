// Reads a small log of each framework (packs/NAME.log, made for this test) with its rule pack, and
// with the learner instead. L4_UPDATE_GOLDEN=1 writes packs/NAME.expected again: read the
// difference.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/agent/segment/pack_reading.h"

namespace l4::segment {
namespace {

const std::filesystem::path kFolder = L4_SOURCE_DIR "/tests/agent/segment/packs";

std::vector<std::filesystem::path> logs() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".log") found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// Packs that name the iteration in a line of the log.
std::vector<std::string> marking_packs(const std::filesystem::path& log) {
  std::vector<std::string> removed;
  while (true) {  // without the first pack, another pack may know the line
    const RulePackSet left = test::packs_without(removed);
    const std::size_t before = removed.size();
    std::ifstream file(log);
    for (std::string line; std::getline(file, line);)
      if (const auto* marker = left.classify(line).iteration; marker != nullptr)
        if (std::ranges::find(removed, marker->pack) == removed.end())
          removed.push_back(marker->pack);
    if (removed.size() == before) return removed;
  }
}

TEST_CASE("each pack reads its framework's log as it should") {
  const RulePackSet packs = test::packs_without({});
  for (const auto& log : logs()) {
    CAPTURE(log.filename().string());
    const std::string reading = test::read_file(log, packs).text();
    const auto expected = std::filesystem::path(log).replace_extension(".expected");
    if (std::getenv("L4_UPDATE_GOLDEN") != nullptr) std::ofstream(expected) << reading;
    CHECK(reading == content(expected));
  }
}

TEST_CASE("every pack has a log") {
  std::vector<std::string> missing;
  for (const std::string& name : test::packs_without({}).names())
    if (!std::filesystem::exists(kFolder / (name + ".log"))) missing.push_back(name);
  CHECK(missing == std::vector<std::string>{});
}

TEST_CASE("the learner finds each framework's marker where its pack is missing") {
  const RulePackSet packs = test::packs_without({});
  for (const auto& log : logs()) {
    CAPTURE(log.filename().string());
    const auto marking = marking_packs(log);
    if (marking.empty()) continue;  // NCCL and torchrun count no iterations
    const auto with = test::read_file(log, packs);
    const auto without = test::read_file(log, test::packs_without(marking));
    CHECK_FALSE(without.marker.empty());
    REQUIRE_FALSE(without.iterations.empty());
    const std::set<std::int64_t> known(with.iterations[0].begin(), with.iterations[0].end());
    const std::set<std::int64_t> learned(without.iterations[0].begin(),
                                         without.iterations[0].end());
    CHECK(std::ranges::includes(known, learned));
    CHECK(learned.size() * 2 >= known.size());
    REQUIRE_FALSE(learned.empty());
    CHECK(*known.rbegin() - *learned.rbegin() <= 1);  // the last line may be worded differently
  }
}

}  // namespace
}  // namespace l4::segment
