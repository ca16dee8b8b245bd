// Arbitrary bytes as a rule pack, a fault file or a list of codes: they are refused with file and
// reason, or loaded and applied to some lines.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "agent/segment/rule_pack.h"
#include "aggregator/faults/library.h"
#include "common/drain/codes.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using l4::fuzz::require;

constexpr std::string_view kLines[] = {
    "",
    "iteration 10/ 150 | consumed samples: 320 | lm loss: 5.5E+00",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=2211, GPU has fallen off the bus.",
    "x1y step=3, loss=nan \xff\xfe {n} <*>",
};

/// A folder of this process, with one file.
const std::filesystem::path& folder() {
  static const auto made = [] {
    const auto path =
        std::filesystem::temp_directory_path() / ("l4-config-fuzz-" + std::to_string(getpid()));
    std::filesystem::create_directories(path);
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return path;
  }();
  return made;
}

template <class Loaded>
bool loaded(const Loaded& result) {
  if (!result) require(!result.error().text().empty(), "a refusal has a reason");
  return result.has_value();
}

void try_packs() {
  const auto packs = l4::segment::RulePackSet::load(folder());
  if (!loaded(packs)) return;
  for (const auto line : kLines) (void)packs->classify(line);
  (void)packs->stage_of("a/b.py:train_step\n");
}

void try_faults() {
  const auto library = l4::faults::Library::load(folder());
  if (!loaded(library)) return;
  for (const auto line : kLines)
    for (const auto* fault : library->match(line)) require(!fault->id.empty(), "a fault has an id");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const l4::fuzz::Input input(data, size);
  if (input.steer % 3 == 2) {
    (void)loaded(l4::drain::parse_codes(input.text, "codes"));
    return 0;
  }
  std::ofstream(folder() / "input.toml", std::ios::binary) << input.text;
  if (input.steer % 3 == 0)
    try_packs();
  else
    try_faults();
  return 0;
}
