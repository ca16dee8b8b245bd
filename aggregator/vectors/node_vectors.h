// The event counts of one node in one attempt of a job, by windows of time and of iterations.
//
// Place in the flow: aggregator/job keeps a list of them for each agent and adds every segment;
// detect/spatial reads them through job::JobView. Lines with a time are counted in windows of
// kWindow since 1970, by the node's own clock; lines of logs without any time in windows of one
// iteration each. Plain state, one thread.
#pragma once

#include <cstdint>
#include <string>

#include "aggregator/vectors/count_windows.h"
#include "common/base/time.h"

namespace l4::vectors {

inline constexpr Millis kWindow{10'000};

struct NodeVectors {
  std::string node;
  std::int32_t attempt = 0;  ///< as the agent counts, like the run
  std::uint32_t run = 0;
  bool launcher = false;  ///< of sources that are no rank: they may belong to all attempts
  CountWindows by_time, by_iteration;
};

/// Number of the window that holds this time.
inline std::int64_t window_at(TimeMs time) {
  const std::int64_t ms = time.time_since_epoch().count(), width = kWindow.count();
  return ms / width - (ms % width < 0 ? 1 : 0);
}

}  // namespace l4::vectors
