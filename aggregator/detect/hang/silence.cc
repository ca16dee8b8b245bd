#include "aggregator/detect/hang/silence.h"

#include <algorithm>

#include "aggregator/job/clock.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/hang.h"
#include "common/base/earliest.h"

namespace l4::detect::hang {
namespace {

/// The begin of a checkpoint or an evaluation is progress, although no iteration completes
/// meanwhile.
std::optional<TimeMs> newest_pause(const job::JobView& view) {
  std::optional<TimeMs> newest;
  for (const job::StreamView& stream : view.streams) {
    if (stream.state->stages.empty()) continue;
    const job::StageChange& change = stream.state->stages.back();
    if (change.stage == Stage::checkpoint_save || change.stage == Stage::evaluation)
      newest = std::max(newest, change.time);
  }
  return newest;
}

}  // namespace

bool goes_on(const job::JobView& view, const job::JobClock& clock) {
  if (!clock.has_iterations()) return false;
  if (clock.ticks.size() < numbers::hang().works_ticks_min) return true;
  const auto completed = job::completed_lines(view);
  const auto behind = [&](std::uint32_t stream, std::uint64_t line) {
    const std::uint64_t last = completed.at(view.streams[stream].log());
    return last == 0 || line < last ? 0 : line - last;
  };
  std::uint64_t lines = 0;
  for (std::uint32_t i = 0; i < view.streams.size(); ++i)
    lines = std::max(lines, behind(i, view.streams[i].state->last_line));
  if (lines < numbers::hang().works_lines_min) return false;
  const auto kinds = std::ranges::count_if(view.events, [&](const job::EventView& event) {
    return std::ranges::any_of(event.at, [&](const job::Occurrence& at) {
      return behind(at.stream, at.stats.last_line) > 0;
    });
  });
  return static_cast<std::size_t>(kinds) >= numbers::hang().works_kinds_min;
}

bool ends_behind_pause(const job::JobView& view, TimeMs from) {
  std::uint64_t lines = 0;
  for (const job::EventView& event : view.events)
    for (const job::Occurrence& at : event.at) {
      if (!at.stats.last_time || *at.stats.last_time <= from) continue;
      if (event.level >= Level::warning) return false;
      const bool all = at.stats.first_time && *at.stats.first_time > from;
      lines += all ? at.stats.count : 1;
      if (lines > numbers::hang().pause_end_lines) return false;
    }
  return lines > 0;
}

bool worked_until(const job::JobView& view, std::uint32_t stream, std::uint64_t line) {
  const job::Log log = view.streams[stream].log();
  const std::uint64_t completed = job::completed_lines(view).at(log);
  if (completed == 0 || line < completed + numbers::hang().works_lines_min) return false;
  const auto kinds = std::ranges::count_if(view.events, [&](const job::EventView& event) {
    return std::ranges::any_of(event.at, [&](const job::Occurrence& at) {
      return at.stats.last_line > completed && at.first_line < line &&
             view.streams[at.stream].log() == log;
    });
  });
  return static_cast<std::size_t>(kinds) >= numbers::hang().works_kinds_min;
}

Millis deadline_of(const job::JobClock& clock, const Options& options) {
  // Twice the largest gap of this job: a pause of a kind seen before (docs/DESIGN.md, "Hangs", with
  // the whole job as one key). The floor covers pauses never seen; for a job with iterations of
  // milliseconds the floor is lower.
  const auto times = [&](double factor) {
    return Millis{static_cast<std::int64_t>(factor * clock.gap_max_ms)};
  };
  if (clock.gap_max_ms <= 0) return options.floor;
  if (!clock.paced) return std::max(times(2), options.floor);
  return std::max(times(2), std::clamp(times(options.gaps), options.floor_min, options.floor));
}

Silence find_silence(const job::JobView& view, const job::JobClock& clock, TimeMs as_of,
                     const Options& options) {
  Silence found;
  found.deadline = deadline_of(clock, options);
  for (std::uint32_t i = 0; i < view.ranks.size(); ++i) {
    const job::RankView& rank = view.ranks[i];
    keep_latest(found.last_activity, rank.end);
    if (rank.launcher) continue;
    std::int64_t behind = 0;
    if (rank.completed && clock.completed_by_any)
      behind = clock.completed_by_any->value() - rank.completed->value();
    found.order.push_back({i, rank.end, behind});
  }
  std::ranges::stable_sort(found.order, [](const SilentRank& a, const SilentRank& b) {
    if (a.since.has_value() != b.since.has_value()) return a.since.has_value();
    return a.since && *a.since < *b.since;
  });
  if (found.last_activity) {
    // One or two counted signs may belong to the start, whose pauses are of another kind.
    const bool paces = clock.last_progress &&
                       (!clock.counted || clock.ticks.size() >= numbers::hang().counted_signs_min);
    const auto progress =
        paces ? std::max(clock.last_progress, newest_pause(view)) : found.last_activity;
    found.stalled_for = std::max(Millis{0}, as_of - *progress);
  }
  found.overdue = found.stalled_for > found.deadline;
  if (options.watched) {
    found.deadline = options.watched->deadline;
    found.stalled_for = options.watched->stalled_for;
    found.overdue = options.watched->overdue;
  }
  return found;
}

}  // namespace l4::detect::hang
