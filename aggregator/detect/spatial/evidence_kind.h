// Kinds and limits of surprising cells in the spatial comparison, without the matrices.
//
// Place in the flow: evidence.h fills cells of these kinds, spatial.h gives them to readers that
// need no matrix. Plain values.
#pragma once

#include <cstdint>
#include <string_view>

#include "aggregator/numbers/spatial.h"

namespace l4::detect::spatial {

enum class EvidenceKind : std::uint8_t {
  none,
  count,   ///< far more or fewer than expected
  excess,  ///< a rare event, more often than in any window of history
  fresh,   ///< never seen in this job nor in the pool
  known,   ///< first time in this job, normal elsewhere
  absent,  ///< new in this job, and on most nodes, but not on this one
  stale,   ///< the node's last line is old
};
std::string_view name(EvidenceKind kind);

/// As in force: aggregator/numbers/spatial.h says what each number means.
struct EvidenceOptions {
  double count_limit = numbers::spatial().count_limit;
  double shrink_max = numbers::spatial().shrink_max;
  double dispersion_min = numbers::spatial().dispersion_min;
  double stale_ms = numbers::spatial().stale_ms;
};

}  // namespace l4::detect::spatial
