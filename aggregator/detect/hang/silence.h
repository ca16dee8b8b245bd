// Who fell silent, when, and whether the silence is longer than this job's own pauses.
//
// Place in the flow: a JobView and its clock in; out comes how long the job has made no progress,
// the deadline learned from its own gaps (algorithms.md 4), and the ranks in the order in which
// they stopped. Pure; `as_of` is when somebody looks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/time.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::hang {

/// What a live watch knows better than printed times do.
struct Watched {
  Millis stalled_for{0}, deadline{0};
  bool overdue = false;
};

struct Options {
  Millis floor{60'000};                 ///< a silence this long is a hang, however quick the job is
  Millis floor_min{10'000};             ///< and none shorter than this
  double gaps = 30;                     ///< between the two, so many times the largest gap seen
  std::optional<Watched> watched = {};  ///< instead of what is said above
};

struct SilentRank {
  std::uint32_t rank = 0;  ///< index into JobView::ranks
  std::optional<TimeMs> since;
  std::int64_t behind = 0;  ///< iterations behind the farthest rank
};

struct Silence {
  std::optional<TimeMs> last_activity;  ///< any line of any rank
  Millis deadline{0};
  Millis stalled_for{0};          ///< as_of minus last progress, or the pause that it made after
  bool overdue = false;           ///< no progress for longer than the deadline, whatever is printed
  std::vector<SilentRank> order;  ///< training ranks, first to stop first
};

Silence find_silence(const job::JobView& view, const job::JobClock& clock, TimeMs as_of,
                     const Options& options = {});

/// Longest silence that is still ordinary for this job, given what its iterations took.
Millis deadline_of(const job::JobClock& clock, const Options& options);

}  // namespace l4::detect::hang
