// Silent ranks, since when, and whether the silence is longer than this job's own pauses.
//
// Place in the flow: a JobView and its clock in; out comes how long the job has made no progress,
// the deadline learned from its own gaps (docs/DESIGN.md, "Hangs"), and the ranks in the order in
// which they stopped. Pure; `as_of` is the time of the question.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aggregator/numbers/hang.h"
#include "common/base/time.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::hang {

/// Facts from the watch of a running job, used instead of printed times.
struct Watched {
  Millis stalled_for{0}, deadline{0};
  bool overdue = false;
};

/// As in force: aggregator/numbers/hang.h says what each number means.
struct Options {
  Millis floor = numbers::hang().floor;
  Millis floor_min = numbers::hang().floor_min;
  double gaps = numbers::hang().gaps;
  std::optional<Watched> watched = {};  ///< replaces the values above
};

struct SilentRank {
  std::uint32_t rank = 0;  ///< index into JobView::ranks
  std::optional<TimeMs> since;
  std::int64_t behind = 0;  ///< iterations behind the farthest rank
};

struct Silence {
  std::optional<TimeMs> last_activity;  ///< time of the newest line of any rank
  Millis deadline{0};
  Millis stalled_for{0};  ///< as_of minus the last progress, or minus the pause that began after it
  bool overdue = false;   ///< no progress for longer than the deadline, even if lines are printed
  std::vector<SilentRank> order;  ///< training ranks, first to stop first
};

Silence find_silence(const job::JobView& view, const job::JobClock& clock, TimeMs as_of,
                     const Options& options = {});

/// What the logs alone cannot call a hang: a writer of iterations prints many lines of many kinds
/// behind its last one (an evaluation, another run, a counter that is not read), or hardly any
/// iteration was seen.
bool goes_on(const job::JobView& view, const job::JobClock& clock);

/// Nobody printed more behind `from` than one or two ordinary lines: the logs end right behind a
/// pause, and whoever printed them may have gone on.
bool ends_behind_pause(const job::JobView& view, TimeMs from);

/// Between its last iteration and line `line`, the stream's file was written on as by a program
/// that works: many lines of many kinds, as of an evaluation.
bool worked_until(const job::JobView& view, std::uint32_t stream, std::uint64_t line);

/// Longest ordinary silence of this job, from the durations of its iterations.
Millis deadline_of(const job::JobClock& clock, const Options& options);

}  // namespace l4::detect::hang
