#include "aggregator/detect/crash/set_apart.h"

#include <algorithm>
#include <cstdint>

#include "aggregator/job/clock.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"

namespace l4::detect::crash {
namespace {

constexpr std::uint64_t kClosing = 4;     // lines of a stream that close it
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

/// Printed, maybe not for the first time, among the last lines: several processes that share a log
/// fail one after the other with the same words.
bool is_among_last(const job::JobView& view, const FailureEvent& found) {
  return mostly(view, found, [](const job::EventStats& stats, const job::Stream& stream) {
    return stats.last_line + kLastLines > stream.last_line;
  });
}

}  // namespace

bool is_closing(const job::JobView& view, const FailureEvent& found) {
  return mostly(view, found, [](const job::EventStats& stats, const job::Stream& stream) {
    return stats.last_line + kClosing > stream.last_line;
  });
}

UsualCourse::UsualCourse(const job::JobView& view, const std::vector<EventHint>& hints, Known known)
    : known_(known), begins_(view.streams.size()) {
  if (!known.runs) return;
  for (std::uint32_t i = 0; i < view.events.size(); ++i) {
    if (!hints[i].in_pool) continue;
    for (const job::Occurrence& at : view.events[i].at)
      begins_[at.stream].push_back(at.stats.first_line);
  }
  for (std::vector<std::uint64_t>& lines : begins_) std::ranges::sort(lines);
}

bool UsualCourse::goes_on(std::uint32_t stream, std::uint64_t line) const {
  constexpr std::ptrdiff_t kEnding = 3;  // events that a program may print while it ends
  const std::vector<std::uint64_t>& begins = begins_[stream];
  return begins.end() - std::ranges::upper_bound(begins, line) > kEnding;
}

bool closes_most_nodes(const job::JobView& view, const std::vector<FailureEvent>& events) {
  std::vector<bool> closed(view.nodes.size(), false);
  for (const FailureEvent& found : events)
    for (const std::uint32_t i : found.occurrences) {
      const job::Occurrence& at = view.events[found.event].at[i];
      const job::StreamView& stream = view.streams[at.stream];
      if (at.stats.first_line + kClosing > stream.state->last_line) closed[stream.node] = true;
    }
  return 2 * std::ranges::count(closed, true) > std::ssize(closed);
}

bool is_set_apart(const job::JobView& view, const job::JobClock& clock, const FailureEvent& found,
                  const EventHint& hint, const UsualCourse& course) {
  constexpr std::uint64_t kOftenMin = 8;  // a line of the program's usual work
  if (course.known().runs) {
    if (hint.in_pool) return false;
    if (clock.has_iterations()) return true;
    std::size_t last = 0;
    for (const std::uint32_t i : found.occurrences) {
      const job::Occurrence& at = view.events[found.event].at[i];
      last += course.goes_on(at.stream, at.stats.first_line) ? 0 : 1;
    }
    return 2 * last >= found.occurrences.size();
  }
  if (!course.known().wording) return clock.has_iterations() || is_among_last(view, found);
  const job::EventView& event = view.events[found.event];
  if (found.occurrences.size() < event.at.size()) return false;
  if (event.count > kOftenMin * event.at.size()) return false;
  return mostly(view, found, [](const job::EventStats& stats, const job::Stream& stream) {
    const std::uint64_t last = std::min(kLastLines, stream.last_line / 3 + 1);
    return stats.first_line + last > stream.last_line;
  });
}

}  // namespace l4::detect::crash
