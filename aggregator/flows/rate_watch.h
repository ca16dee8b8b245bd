// Streams whose transfers became slow, in a job that shows no steps.
//
// Place in the flow: FollowedJob hands over the rows of a job without a step clock; what is slow
// goes to Explainer::blame(). An exporter with long time-outs merges transfers and pauses, so that
// most rates mean little: the fastest of kBlock rows in a row does. A link that is limited has no
// fast row at all. A stream is slow once the fastest rows of kBlocksMin blocks in a row are below a
// quarter of what is usual for it (the median of the blocks before). O(1) a row. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "aggregator/flows/row_store.h"

namespace l4::flows {

class RateWatch {
 public:
  static constexpr std::size_t kBlock = 10, kBlocksMin = 2, kHistory = 8;

  struct Found {
    std::vector<std::uint32_t> slow, judged;  ///< streams; those judged are the slow ones, too
    TimeNs since = 0;                         ///< first row of the first slow block
    double factor = 1;                        ///< usual rate by that of now, the median of the slow
  };

  /// Whether a block of the row's stream was closed by it, so that there may be news.
  bool add(const Row& row);
  /// Streams that have told nothing since the first was slow are not judged.
  Found find() const;

 private:
  struct Rates {
    double best = 0;  ///< bytes a nanosecond, of the open block
    std::size_t rows = 0;
    TimeNs begin = 0, end = 0;             ///< of the open block, and of the last that was closed
    std::array<double, kHistory> usual{};  ///< best of the newest blocks that were not slow
    std::size_t known = 0;                 ///< number of blocks that were not slow
    std::size_t slow = 0;                  ///< blocks in a row
    TimeNs since = 0;                      ///< begin of the first of them
    double now = 0;                        ///< best of the last block

    std::span<const double> kept() const {
      return std::span(usual).first(std::min(known, kHistory));
    }
  };

  std::unordered_map<std::uint32_t, Rates> streams_;
};

}  // namespace l4::flows
