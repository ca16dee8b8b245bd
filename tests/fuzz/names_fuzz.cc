// Arbitrary text where names are read: whom a message blames, what a path says, which rank a list
// gives to a process.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "agent/decode/roster.h"
#include "agent/decode/speaker_prefix.h"
#include "agent/discover/path_facts.h"
#include "common/parameters/blame.h"
#include "common/parameters/parameters.h"
#include "common/wire/limits.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using l4::fuzz::require;
using l4::wire::Parameter;
using l4::wire::ParameterKind;

/// The part of a blamed value that stands in the message as it is.
std::string_view spelled(const Parameter& value) {
  const std::string_view text = value.value;
  return value.kind == ParameterKind::device ? text.substr(text.rfind(' ') + 1) : text;
}

void blame(std::string_view message, std::string_view details) {
  std::vector<Parameter> values, plain, again;
  l4::parameters::extract(message, details, values);
  l4::parameters::extract(message, plain);
  l4::parameters::extract(message, details, again);
  require(values == again, "a message is read the same each time");
  require(values.size() <= l4::parameters::kParametersMax, "values are bounded");
  for (const Parameter& value : values) {
    require(value.value.size() <= l4::wire::kParameterBytesMax, "a value is bounded");
    if (!value.blamed) continue;
    require(message.contains(spelled(value)) || details.contains(spelled(value)),
            "only what the text names is blamed");
    require(value.kind == ParameterKind::rank || value.kind == ParameterKind::host ||
                value.kind == ParameterKind::address || value.kind == ParameterKind::device,
            "only ranks and places are blamed");
  }
  for (const Parameter& value : plain)
    require(value.blamed || !details.empty() || std::ranges::count(values, value) == 1,
            "without details nothing is added");
}

void path(std::string_view text) {
  const l4::discover::PathParts parts = l4::discover::split_path(text);
  const l4::discover::PathFacts facts = l4::discover::facts_of(parts);
  require(facts.node.empty() || text.contains(facts.node), "a node is named by its path");
  require(!facts.rank || facts.rank->value() >= 0, "a rank is a number");
  require(!facts.local_rank || *facts.local_rank >= 0, "a local rank is a number");
}

void roster(std::string_view text) {
  l4::decode::Roster roster;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    l4::decode::Prefixes prefixes;
    l4::decode::parse_prefixes(line, {}, prefixes);
    roster.note(line);
    if (prefixes.process < 0) continue;
    const auto rank = roster.rank_of(prefixes.process, prefixes.speaker.host);
    require(!rank || rank->value() >= 0, "a rank is a number");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const l4::fuzz::Input input(data, size);
  const std::size_t half = input.text.size() * (input.steer % 4) / 4;
  blame(input.text.substr(half), input.text.substr(0, half));
  for (std::string_view rest = input.text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    blame(line, {});
    path(line);
  }
  roster(input.text);
  return 0;
}
