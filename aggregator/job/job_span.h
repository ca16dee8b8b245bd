// The time in which most lines of an attempt were printed, against which a few that are years away
// are judged: a clock that was never set, a kernel's log from another month.
//
// Place in the flow: made from the streams of an attempt by view.cc, before they are added. Value.
#pragma once

#include <optional>
#include <vector>

#include "aggregator/job/attempts.h"
#include "common/base/time.h"

namespace l4::job {

class JobSpan {
 public:
  explicit JobSpan(const std::vector<Attempts::Speaker>& speakers);

  /// The time, or nothing if it is more than a month before the attempt or behind it.
  std::optional<TimeMs> within(std::optional<TimeMs> time) const;

 private:
  std::optional<TimeMs> begin_, end_;  ///< those of most lines
};

}  // namespace l4::job
