// The last line of each log in which some events stand.
//
// Place in the flow: detectors that judge a line by its place in its file, behind or before another
// one. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "aggregator/job/view.h"
#include "aggregator/numbers/crash.h"

namespace l4::detect {

using LinesByLog = std::map<job::Log, std::uint64_t>;

/// Of an event that came a few times in a stream only the first line is known;
/// EventStats::last_line is the end of what was shipped together.
inline std::uint64_t last_known_line(const job::EventStats& stats) {
  return stats.count <= numbers::crash().first_line_times ? stats.first_line : stats.last_line;
}

/// By log: the last of the lines that `line_of` gives for the occurrences of an event (its place in
/// JobView::events), where `counts` holds for the event. Logs without any are left out.
template <class Counts, class LineOf>
LinesByLog last_lines(const job::JobView& view, Counts counts, LineOf line_of) {
  LinesByLog lines;
  for (std::size_t i = 0; i < view.events.size(); ++i) {
    if (!counts(i)) continue;
    for (const job::Occurrence& at : view.events[i].at) {
      std::uint64_t& line = lines[view.streams[at.stream].log()];
      line = std::max(line, line_of(at.stats));
    }
  }
  return lines;
}

}  // namespace l4::detect
