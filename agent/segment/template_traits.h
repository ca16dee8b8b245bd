// What an agent knows about one of its templates beyond its text.
//
// Filled once when the template is created (agent/segment/rule_pack.h classifies its first line)
// and read for every later record. Owned by the agent's pipeline.
#pragma once

#include <cstdint>

#include "agent/segment/rule_pack.h"
#include "common/base/vocabulary.h"

namespace l4::segment {

struct TemplateTraits {
  TemplateRole role;
  Level level = Level::unknown;
  std::uint64_t seen = 0;
};

/// A template is speaking while its parameters are worth shipping (design.md 3).
inline bool is_speaking(const TemplateTraits& traits) {
  constexpr std::uint64_t kSeenMax = 64;
  return traits.level >= Level::warning || traits.seen < kSeenMax;
}

}  // namespace l4::segment
