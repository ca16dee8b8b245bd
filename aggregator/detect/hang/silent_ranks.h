// Ranks that say nothing about a failure of which others complain.
//
// Place in the flow: for suspects; pure. A silent rank has died or hangs, unless its launcher ended
// it before it could print; launchers print one line for each process that they end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::detect::hang {

struct SilentRanks {
  std::vector<std::uint32_t>
      ranks;               ///< indices into JobView::ranks, without those that a launcher ended
  std::size_t silent = 0;  ///< silent ranks, including those that a launcher ended
  std::size_t all = 0;     ///< ranks, or launchers, with any line at all
};

enum class Speakers : std::uint8_t {
  ranks,       ///< for a crash: ranks that a launcher ended are left out
  hung_ranks,  ///< a hung rank is ended, too, once its peers give up, so an ending explains nothing
  launchers,
};

/// `complained`: by JobView::ranks. If the launchers' lines account for every silent rank and none
/// reports a process that died by itself, they are ignored: all silent ranks are returned.
SilentRanks find_silent_ranks(const job::JobView& view, const std::vector<bool>& complained,
                              Speakers speakers);

}  // namespace l4::detect::hang
