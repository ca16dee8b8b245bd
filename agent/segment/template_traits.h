// The facts that an agent keeps about a template besides its text.
//
// Filled when the template is created (agent/segment/rule_pack.h classifies its first line) and
// read for every later record. Owned by the agent's pipeline.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/segment/durations.h"
#include "agent/segment/figures.h"
#include "agent/segment/rule_pack.h"
#include "common/base/ids.h"
#include "common/base/vocabulary.h"

namespace l4::segment {

struct TemplateTraits {
  TemplateRole role;
  std::vector<std::uint16_t> timer_ids;  ///< ids of role.timers in batches
  Level level = Level::unknown;
  std::vector<Figure> figures;      ///< numbers that its lines print
  std::vector<Duration> durations;  ///< times that its lines print and no pack names
  bool names_epoch = false;         ///< its lines name the current epoch
  bool announces = false;           ///< its lines announce a total (announced_totals.h)
  bool promising = false;           ///< IterationLearner::is_promising()
  bool ended = false;  ///< a shell or a batch system tells with it that the run is over
  std::uint64_t seen = 0;
  mutable ReadHint number_hint;               ///< where the marker's number was
  mutable std::vector<ReadHint> timer_hints;  ///< where the values of role.timers were

  bool prints_times() const { return !role.timers.empty() || !durations.empty(); }
};

/// Key of a template in a FlatTable; never 0, because FlatTable reads 0 as 1.
inline std::uint64_t key_of(LocalTemplateId id) {
  return std::uint64_t{id.value()} + 1;
}

/// Mark bits of a role as they go over the wire.
inline std::uint8_t marks_of(const TemplateRole& role) {
  return static_cast<std::uint8_t>(
      (role.iteration != nullptr ? wire::kMarkIteration : 0) |
      (role.teardown ? wire::kMarkTeardown : 0) | (role.aftermath ? wire::kMarkAftermath : 0) |
      (role.finished ? wire::kMarkFinished : 0) | (role.progress ? wire::kMarkProgress : 0));
}

/// True while the parameters of a template are worth shipping (docs/DESIGN.md 3).
inline bool ships_parameters(const TemplateTraits& traits) {
  constexpr std::uint64_t kSeenMax = 64;
  return traits.level >= Level::warning || traits.seen < kSeenMax;
}

}  // namespace l4::segment
