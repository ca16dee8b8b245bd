#include "aggregator/detect/crash/set_apart.h"

#include <algorithm>
#include <cstdint>

#include "aggregator/job/clock.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"

namespace l4::detect::crash {
namespace {

constexpr std::uint64_t kClosing = 4;     // lines of a stream that close it
constexpr std::uint64_t kEndLines = 128;  // its end, with a traceback
constexpr std::uint64_t kLastLines = 48;  // its end, where nothing is known of healthy runs

/// True if at least half of the occurrences hold.
template <class Holds>
bool mostly(const job::JobView& view, const FailureEvent& found, Holds holds) {
  const job::EventView& event = view.events[found.event];
  std::size_t count = 0;
  for (const std::uint32_t i : found.occurrences)
    if (holds(event.at[i].stats, *view.streams[event.at[i].stream].state)) ++count;
  return 2 * count >= found.occurrences.size();
}

}  // namespace

bool is_closing(const job::JobView& view, const FailureEvent& found) {
  return mostly(view, found, [](const job::EventStats& stats, const job::Stream& stream) {
    return stats.last_line + kClosing > stream.last_line;
  });
}

bool is_set_apart(const job::JobView& view, const job::JobClock& clock, const FailureEvent& found,
                  const EventHint& hint, bool pooled) {
  constexpr std::uint64_t kOftenMin = 8;  // a line of the program's usual work
  if (pooled) {
    if (hint.in_pool) return false;
    return clock.has_iterations() ||
           mostly(view, found, [](const job::EventStats& stats, const job::Stream& stream) {
             return stats.first_line + kEndLines > stream.last_line;
           });
  }
  const job::EventView& event = view.events[found.event];
  if (found.occurrences.size() < event.at.size()) return false;
  if (event.count > kOftenMin * event.at.size()) return false;
  return mostly(view, found, [](const job::EventStats& stats, const job::Stream& stream) {
    const std::uint64_t last = std::min(kLastLines, stream.last_line / 3 + 1);
    return stats.first_line + last > stream.last_line;
  });
}

}  // namespace l4::detect::crash
