// How the logs of a job end: what is said behind its last progress, and how far its counters came.
//
// Place in the flow: a JobView and its clock in; the verdict tells a job that has ended well from
// one that went away without a word, or about which nothing is known. Lines count by their wording
// (detect/evidence/ending.h) where they stand behind the last progress of their stream and among
// its last lines. Pure.
#pragma once

#include <optional>
#include <vector>

#include "aggregator/detect/evidence/failure_event.h"
#include "common/base/time.h"

namespace l4::job {
struct JobClock;
struct JobView;
}  // namespace l4::job

namespace l4::detect::ending {

struct Endings {
  bool well = false;           ///< a launcher, a batch system or a tracker says that it ended well
  bool badly = false;          ///< the same, with an error
  bool kept = false;           ///< the result was saved, or totals of the run were printed
  bool left = false;           ///< the writer has ended, nobody says how
  bool tidied = false;         ///< the program has closed what it used, nobody says why
  bool asked = false;          ///< the program was asked to end, before its result was kept
  bool gone = false;           ///< somebody cleans up behind a process
  bool followed = false;       ///< another run stands behind this one in the same file
  bool complete = false;       ///< the counters have reached their totals
  bool short_of = false;       ///< a counter has not reached its total
  std::optional<TimeMs> said;  ///< time of the newest words for a good end
  /// By JobView::streams: the last line that says that it ended well, 0 for none. Empty: none at
  /// all.
  std::vector<std::uint64_t> well_lines;
  /// By JobView::streams: the first line that says that the program was asked to end, 0 for none.
  /// Empty: none at all.
  std::vector<std::uint64_t> asked_lines;
  /// The events that show the end, in the order of lines: a failure if something went away.
  std::vector<FailureEvent> signs;

  /// Something shows that the processes have ended.
  bool ended() const { return tidied || is_told(); }
  /// Another than the program itself shows it.
  bool is_told() const { return well || badly || left || asked || gone || followed; }
};

Endings find_endings(const job::JobView& view, const job::JobClock& clock);

}  // namespace l4::detect::ending
