#include "aggregator/job/printed.h"

#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"

namespace l4::job {

/// Of the streams that print numbers the one that came as far, or else the one that came farthest.
Iteration printed(const JobView& view, Iteration iteration) {
  const Stream* best = nullptr;
  for (const StreamView& stream : view.streams) {
    const Stream& one = *stream.state;
    if (one.counted || !one.last_completed) continue;
    if (best == nullptr || *one.last_completed > *best->last_completed) best = &one;
    if (*best->last_completed >= iteration) break;
  }
  return best == nullptr ? iteration : best->printed(iteration);
}

}  // namespace l4::job
