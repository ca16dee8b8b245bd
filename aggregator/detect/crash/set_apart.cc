#include "aggregator/detect/crash/set_apart.h"

#include <algorithm>
#include <cstdint>

#include "aggregator/job/clock.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/crash.h"

namespace l4::detect::crash {
namespace {

/// True if at least half of the occurrences hold.
template <class Holds>
bool mostly(const job::JobView& view, const FailureEvent& found, Holds holds) {
  const job::EventView& event = view.events[found.event];
  std::size_t count = 0;
  for (const std::uint32_t i : found.occurrences)
    if (holds(event.at[i].stats, *view.streams[event.at[i].stream].state)) ++count;
  return 2 * count >= found.occurrences.size();
}

/// Printed, maybe not for the first time, among so many last lines.
bool is_among_last(const job::JobView& view, const FailureEvent& found, std::uint64_t lines) {
  return mostly(view, found, [=](const job::EventStats& stats, const job::Stream& stream) {
    return stream.is_among_last(stats.last_line, lines);
  });
}

}  // namespace

bool is_closing(const job::JobView& view, const FailureEvent& found) {
  return is_among_last(view, found, numbers::crash().closing_lines);
}

UsualCourse::UsualCourse(const job::JobView& view, const std::vector<EventHint>& hints, Known known)
    : known_(known), courses_(view.streams.size()) {
  if (!known.runs) return;
  for (std::uint32_t i = 0; i < courses_.size(); ++i) {
    courses_[i].end = view.streams[i].state->last_line;
    courses_[i].completed = view.streams[i].state->last_completed_line;
  }
  for (std::uint32_t i = 0; i < view.events.size(); ++i) {
    if (!hints[i].in_pool) continue;
    for (const job::Occurrence& at : view.events[i].at) {
      Course& course = courses_[at.stream];
      course.begins.push_back(at.first_line);
      course.usual = std::max(course.usual, at.stats.last_line);
    }
  }
  for (Course& course : courses_) std::ranges::sort(course.begins);
}

bool UsualCourse::goes_on(std::uint32_t stream, std::uint64_t line) const {
  const std::vector<std::uint64_t>& begins = courses_[stream].begins;
  return begins.end() - std::ranges::upper_bound(begins, line) > numbers::crash().ending_events;
}

bool UsualCourse::closes_at(std::uint32_t stream, std::uint64_t line) const {
  const Course& course = courses_[stream];
  if (line <= course.completed) return false;
  const std::uint64_t last = std::min(course.usual, course.end);
  return line + numbers::crash().closing_lines > last ||
         (!known_.wording && line + numbers::crash().closing_stack_lines > last &&
          !goes_on(stream, line));
}

Closing closing_of(const job::JobView& view, const std::vector<FailureEvent>& events,
                   const UsualCourse& course) {
  std::vector<std::size_t> closing(view.nodes.size(), 0);
  std::vector<std::vector<bool>> nodes_of;  // by event
  bool led = std::ranges::none_of(view.streams, [](const job::StreamView& stream) {
    return stream.state->last_completed.has_value();
  });
  for (const FailureEvent& found : events) {
    std::vector<bool>& on = nodes_of.emplace_back(view.nodes.size(), false);
    for (const std::uint32_t i : found.occurrences) {
      const job::Occurrence& at = view.events[found.event].at[i];
      if (!course.closes_at(at.stream, at.first_line)) continue;
      on[view.streams[at.stream].node] = true;
      led = led || view.streams[at.stream].state->last_completed;
    }
    for (std::size_t node = 0; node < on.size(); ++node) closing[node] += on[node] ? 1 : 0;
  }
  if (closing.empty()) return {};
  // A node closes with no fewer than another: where it lacks one of the other's, both lack one.
  const auto most = std::ranges::max_element(closing);
  const auto lacks = [at = most - closing.begin()](const std::vector<bool>& on) {
    return !on[static_cast<std::size_t>(at)] && std::ranges::find(on, true) != on.end();
  };
  return {.most_nodes = 2 * std::ranges::count(closing, 0U) < std::ssize(closing),
          .led = led,
          .on_a_node = *most,
          .parted = *most > 0 && std::ranges::any_of(nodes_of, lacks)};
}

bool is_set_apart(const job::JobView& view, const job::JobClock& clock, const FailureEvent& found,
                  const EventHint& hint, const UsualCourse& course) {
  if (course.known().runs) {
    if (hint.in_pool) return false;
    if (clock.has_iterations()) return true;
    std::size_t last = 0;
    for (const std::uint32_t i : found.occurrences) {
      const job::Occurrence& at = view.events[found.event].at[i];
      last += course.goes_on(at.stream, at.first_line) ? 0 : 1;
    }
    return 2 * last >= found.occurrences.size();
  }
  // Several processes that share a log fail one after the other with the same words.
  if (!course.known().wording)
    return clock.has_iterations() || is_among_last(view, found, numbers::crash().end_lines);
  const job::EventView& event = view.events[found.event];
  if (found.occurrences.size() < event.at.size()) return false;
  if (event.count > numbers::crash().often_times * event.at.size()) return false;
  return mostly(view, found, [](const job::EventStats& stats, const job::Stream& stream) {
    const std::uint64_t last =
        std::min(numbers::crash().end_lines, stream.last_line / numbers::crash().end_part + 1);
    return stats.first_line + last > stream.last_line;
  });
}

}  // namespace l4::detect::crash
