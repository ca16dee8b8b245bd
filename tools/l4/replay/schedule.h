// When which bytes of a recording are due: by its arrivals, or by the times that its lines print.
//
// By printed times, a line without a time is due with the line before it in its file, the first
// lines of a file with the first that has a time. Many lines behind the last that has one are
// spread until the file was written last, and so are the lines of a file without any time; the last
// line, and an error among the last ones with what follows it, are due at that end. Where the files
// have not kept the times of their last writes (they were copied), a file that was quiet while
// those beside it went on, such as a launcher's, ends with these; any other with its last time.
// Within a file no line is due before an earlier one: where a clock was set back, time goes on from
// the line before. Lines that print times far from those of the rest of the job count as lines
// without a time. Silences of more than a day are shortened. Pure functions over values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"
#include "tools/l4/replay/arrivals.h"
#include "tools/l4/replay/line_times.h"
#include "tools/l4/replay/recording.h"

namespace l4::replay {

/// What is left of a silence of more than a day.
inline constexpr Millis kSilenceLeft = std::chrono::seconds{10};

/// From `at` on the log has `size` bytes.
struct Due {
  TimeMs at;  ///< on the clock of the recording
  std::uint32_t log = 0;
  std::uint64_t size = 0;
};

class Schedule {
 public:
  /// `dues` of one log in ascending order of size.
  explicit Schedule(std::vector<Due> dues);

  const std::vector<Due>& dues() const { return dues_; }  ///< ascending by time; not empty
  /// Time since the first line, without what was taken out of silences.
  Millis since_begin(TimeMs at) const;
  Millis length() const { return since_begin(dues_.back().at); }
  /// Silences that were shortened: their end, and how long they were.
  const std::vector<std::pair<TimeMs, Millis>>& silences() const { return silences_; }

 private:
  std::vector<Due> dues_;
  std::vector<std::pair<TimeMs, Millis>> silences_;
};

/// Error: a row of `arrivals` that does not fit the recording; `path` is the file of the rows.
Result<Schedule> by_arrivals(const Recording& recording, const Arrivals& arrivals,
                             const std::filesystem::path& path);
/// Adds sentences about lines and files without times to `notes`. `times`: of each log.
Schedule by_printed_times(const Recording& recording, const std::vector<LineTimes>& times,
                          std::vector<std::string>& notes);
/// By how much the clock of the schedule is ahead of the clock that the lines print; 0 if by less
/// than a minute, because lines arrive some time after they were printed.
Millis clock_difference(const Schedule& schedule, const std::vector<LineTimes>& times);

}  // namespace l4::replay
