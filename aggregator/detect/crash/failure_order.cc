#include "aggregator/detect/crash/failure_order.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/crash.h"

namespace l4::detect::crash {
namespace {

/// Lines with a time of their own, by line.
using Timed = std::vector<std::pair<std::uint64_t, TimeMs>>;

std::map<job::Log, Timed> timed_lines(const job::JobView& view,
                                      const std::vector<FailureEvent>& events) {
  std::map<job::Log, Timed> logs;
  for (const FailureEvent& failure : events)
    for (const std::uint32_t i : failure.occurrences) {
      const job::Occurrence& at = view.events[failure.event].at[i];
      if (at.exact && at.time)
        logs[view.streams[at.stream].log()].emplace_back(at.first_line, *at.time);
    }
  for (auto& [log, lines] : logs) std::ranges::sort(lines);
  return logs;
}

/// The time of the nearest line; nothing if none is near.
std::optional<TimeMs> time_near(const Timed& lines, std::uint64_t line) {
  const auto behind =
      std::ranges::lower_bound(lines, line, {}, &std::pair<std::uint64_t, TimeMs>::first);
  std::uint64_t least = numbers::crash().together_lines;
  std::optional<TimeMs> time;
  if (behind != lines.begin()) {
    const auto before = std::prev(behind);
    if (line - before->first < least) {
      least = line - before->first;
      time = before->second;
    }
  }
  if (behind != lines.end() && behind->first - line < least) time = behind->second;
  return time;
}

/// The occurrence with which the event was first seen.
const job::Occurrence* first_of(const job::JobView& view, const FailureEvent& failure) {
  for (const std::uint32_t i : failure.occurrences) {
    const job::Occurrence& at = view.events[failure.event].at[i];
    if (at.stream == failure.first_stream && at.first_line == failure.first_line) return &at;
  }
  return nullptr;
}

}  // namespace

void sort_by_place(const job::JobView& view, std::vector<FailureEvent>& events) {
  constexpr std::int64_t kNoIteration = std::numeric_limits<std::int64_t>::max();
  const auto logs = timed_lines(view, events);
  std::vector<std::pair<std::int64_t, FailureEvent>> sorted;
  sorted.reserve(events.size());
  for (FailureEvent& failure : events) {
    const job::Occurrence* first = first_of(view, failure);
    std::int64_t iteration = kNoIteration;
    failure.placed = failure.first_time;
    if (first != nullptr && !first->exact) {
      if (const auto log = logs.find(view.streams[first->stream].log()); log != logs.end())
        if (const auto near = time_near(log->second, failure.first_line)) failure.placed = near;
      if (!failure.placed && first->stats.first_iteration)
        iteration = first->stats.first_iteration->value();
    }
    sorted.emplace_back(iteration, std::move(failure));
  }
  const auto place = [&](const auto& entry) {
    const auto& [iteration, failure] = entry;
    return std::tuple(!failure.placed, failure.placed.value_or(TimeMs{}), iteration,
                      view.streams[failure.first_stream].log().second, failure.first_line);
  };
  std::ranges::stable_sort(sorted, {}, place);
  events.clear();
  for (auto& [iteration, failure] : sorted) events.push_back(std::move(failure));
}

}  // namespace l4::detect::crash
