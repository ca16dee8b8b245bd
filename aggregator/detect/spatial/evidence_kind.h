// Kinds and limits of surprising cells in the spatial comparison, without the matrices.
//
// Place in the flow: evidence.h fills cells of these kinds, spatial.h gives them to readers that
// need no matrix. Plain values.
#pragma once

#include <cstdint>
#include <string_view>

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

struct EvidenceOptions {
  double count_limit = 5;        ///< least |z| of a count cell; grows as sqrt(2 ln(100 N d))
  double shrink_max = 20;        ///< kappa: windows' worth of weight given to the peers, at most
  double dispersion_min = 0.25;  ///< phi of steadily printed events: window edges still jitter
  double stale_ms = 5'000;
};

}  // namespace l4::detect::spatial
