// Arbitrary lines in the template miner: lines form the same groups in any order, learned templates
// are found again, and a miner with small bounds keeps them.
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "common/drain/template_miner.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using l4::LocalTemplateId;
using l4::drain::TemplateMiner;
using l4::fuzz::require;

constexpr std::size_t kLinesMax = 400;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < kLinesMax) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    lines.push_back(line);
  }
  return lines;
}

/// The group of each line, numbered by the first line in it.
std::vector<std::size_t> groups(const std::vector<std::string_view>& lines, bool backwards) {
  TemplateMiner miner;
  std::vector<LocalTemplateId> learned(lines.size(), LocalTemplateId{0});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t at = backwards ? lines.size() - 1 - i : i;
    learned[at] = miner.learn(lines[at]).id;
  }
  std::map<std::uint32_t, std::size_t> first;
  std::vector<std::size_t> group;
  for (std::size_t i = 0; i < lines.size(); ++i)
    group.push_back(first.emplace(miner.canonical(learned[i]).value(), i).first->second);
  const auto kept = learned;
  miner.freeze();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto found = miner.find(lines[i]);
    require(found.has_value(), "a learned line is found");
    require(miner.canonical(*found) == miner.canonical(kept[i]), "and found where it was learned");
  }
  return group;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const l4::fuzz::Input input(data, size);
  const auto lines = lines_of(input.text);
  require(groups(lines, false) == groups(lines, true), "the order of lines does not matter");

  l4::drain::Options options;
  options.templates_max = 1 + input.steer % 16;
  options.memo_entries_max = 8;
  TemplateMiner small(options);
  for (const auto line : lines) {
    const auto match = small.learn(line);
    require(small.canonical(match.id) == match.id, "learn gives the template itself");
    require(small.size() <= options.templates_max, "the miner keeps within its room");
  }
  require(small.stats().lines == lines.size(), "every line is counted");
  return 0;
}
