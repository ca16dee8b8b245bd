// Who says nothing of a failure that others complain of.
//
// Place in the flow: for suspects; pure. Who is silent has died or hangs, unless its launcher ended
// it before it could speak: launchers print that, one line for each process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

struct SilentRanks {
  std::vector<std::uint32_t> ranks;  ///< indices into JobView::ranks; not those that were ended
  std::size_t silent = 0;            ///< those, too
  std::size_t all = 0;               ///< ranks, or launchers, that have said anything at all
};

enum class Speakers : std::uint8_t {
  ranks,       ///< of a crash: those that were ended are left out
  hung_ranks,  ///< who hangs is ended, too, once its peers have given up: that explains nothing
  launchers,
};

/// `complained`: by JobView::ranks. Where the launchers' words explain all silence and none tells
/// of a process that died of itself, they explain nothing: all silent ranks are given.
SilentRanks find_silent_ranks(const job::JobView& view, const std::vector<bool>& complained,
                              Speakers speakers);

}  // namespace l4::diagnose
