// Recorded logs of real jobs, if they are beside the checkout: the marker is found in every file
// that has one, and the framework is recognised.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/agent/segment/pack_reading.h"

namespace l4::segment {
namespace {

/// Files in which no iteration is printed, and why.
const std::map<std::string, std::string> kWithoutMarker{
    {"verl_fsdp_sft.log", "the excerpt ends while the data is still being prepared"},
};

TEST_CASE("the marker is found in every recorded log that has one") {
  const std::filesystem::path folder = L4_SOURCE_DIR "/../shared/data/real_logs/normal";
  if (!std::filesystem::is_directory(folder)) {
    MESSAGE("skipped: no " << folder.string());
    return;
  }
  const RulePackSet packs = test::packs_without({});
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".log") continue;
    CAPTURE(name);
    ++files;
    const auto reading = test::read_file(entry.path(), packs);
    CHECK(reading.marker.empty() == kWithoutMarker.contains(name));
    CHECK(reading.frameworks.empty() == kWithoutMarker.contains(name));
  }
  CHECK(files >= static_cast<int>(kWithoutMarker.size()));
}

}  // namespace
}  // namespace l4::segment
