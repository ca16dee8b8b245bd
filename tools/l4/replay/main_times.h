// The times at which a job ran: those of most of its lines.
//
// Lines may print times far from all others (a clock that was not set yet, 1970, a broken stamp).
// The times of all logs are cut where none lies for more than a day; parts with less than a tenth
// of the lines of the largest are left out. Value, one thread.
#pragma once

#include <utility>
#include <vector>

#include "common/base/time.h"
#include "tools/l4/replay/line_times.h"

namespace l4::replay {

class MainTimes {
 public:
  /// `times`: of each log.
  explicit MainTimes(const std::vector<LineTimes>& times);

  bool empty() const { return spans_.empty(); }
  bool holds(TimeMs time) const;
  TimeMs first() const { return empty() ? TimeMs{} : spans_.front().first; }
  TimeMs last() const { return empty() ? TimeMs{} : spans_.back().second; }

 private:
  std::vector<std::pair<TimeMs, TimeMs>> spans_;  // ascending
};

}  // namespace l4::replay
