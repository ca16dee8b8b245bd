// Compares the nodes of one running job while nothing asks for a diagnosis: a node that newly
// differs with an alarm (detect/spatial/rolling.h: E >= 3 ln N) is a reason for one.
//
// Flow: Shard -> LiveJob, at most once a closed window (vectors::kWindow) -> here -> JobWatch. It
// reads the job's state as a diagnosis does, but runs that one detector. The cost of a check paces
// the next one: it takes at most 1 / kRestFactor of the shard's time. A node that was reported is
// reported again only after a check in which it did not differ. Belongs to one job, on its thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "aggregator/diagnose/findings/pool.h"
#include "common/base/time.h"

namespace l4::job {
class JobState;
}  // namespace l4::job

namespace l4::scoring {

/// A node that newly differs, and by what.
struct NodeAlarm {
  std::string node, detail;
};

class NodeCheck {
 public:
  static constexpr std::int64_t kRestFactor = 50;

  TimeMs next() const { return next_; }
  bool is_due(TimeMs now) const { return now >= next_; }
  std::vector<NodeAlarm> run(const job::JobState& state, const diagnose::Pool& normal);
  /// Schedules the next check after one that ended at `now` and took `cost`.
  void rest(TimeMs now, Millis cost);

 private:
  std::set<std::string> alarming_;  ///< nodes, in the last check
  TimeMs next_{};
};

}  // namespace l4::scoring
