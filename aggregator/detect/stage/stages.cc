#include "aggregator/detect/stage/stages.h"

#include <algorithm>
#include <map>
#include <set>

#include "aggregator/job/clock.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/stage.h"
#include "common/base/earliest.h"

namespace l4::detect::stage {
namespace {

void widen(Span& span, const job::StageChange& change) {
  keep_earliest(span.begin, change.time);
  keep_latest(span.end, change.end);
}

struct Newest {
  Stage stage = Stage::unknown;
  std::optional<TimeMs> time;  ///< time of its newest line
};

/// The stage of the rank's newest line; if the rank has several streams, of the farthest stream.
Newest newest_stage(const job::JobView& view, const job::RankView& rank) {
  Newest last;
  for (const std::uint32_t index : rank.streams) {
    const job::Stream& stream = *view.streams[index].state;
    if (stream.stages.empty()) continue;
    const job::StageChange& change = stream.stages.back();
    if (change.stage == Stage::unknown) continue;
    // A file that holds only the start-up does not show the stage of a rank that has trained since.
    if (rank.completed && is_startup(change.stage)) continue;
    const auto time = change.end ? change.end : view.streams[index].last_activity;
    const bool newer = last.stage == Stage::unknown ||
                       (time && (!last.time || *time > *last.time)) ||
                       (!time && !last.time && change.stage > last.stage);
    if (newer) last = {change.stage, time};
  }
  return last;
}

/// Training is synchronous: a rank completes an iteration only after all others have begun it. If
/// others have completed one since a rank began its checkpoint, that rank must be training again.
bool trains_again(const Newest& newest, const job::RankView& rank, bool dense,
                  const job::JobClock& clock) {
  if (newest.stage != Stage::evaluation && newest.stage != Stage::checkpoint_save) return false;
  if (!clock.has_iterations() || clock.counted) return false;
  if (dense && rank.completed)
    return clock.completed_by_any->value() >= rank.completed->value() + clock.stride;
  return newest.time && clock.last_progress &&
         *clock.last_progress > *newest.time + numbers::stage().tolerance;
}

/// Others of the job complete iterations, and this stream tells of none.
bool others_went_on(const job::StreamView& stream, const job::JobClock& clock) {
  return clock.has_iterations() && !stream.state->last_completed;
}

/// Behind the line nothing but the number of the last iteration was printed again, or signs that
/// have no number: totals of the run, or of its last epoch, and the step at which they were taken.
bool ends_at_last(const job::Stream& stream, const job::EventStats& stats,
                  const std::optional<TimeMs>& time) {
  if (!stream.is_among_last(stats.last_line, numbers::stage().last_lines)) return false;
  if (stream.counted) return true;
  const auto last =
      std::ranges::find_if(stream.iterations.rbegin(), stream.iterations.rend(),
                           [&](const auto& entry) { return entry.first == stream.last_completed; });
  return time && last != stream.iterations.rend() && last->second.begin &&
         *time >= *last->second.begin;
}

}  // namespace

Stages find_stages(const job::JobView& view, const job::JobClock& clock) {
  Stages found;
  std::map<Stage, Span> spans;
  std::map<Stage, std::set<std::uint32_t>> ranks;
  for (const job::StreamView& stream : view.streams)
    for (const job::StageChange& change : stream.state->stages) {
      if (change.stage == Stage::unknown) continue;
      Span& span = spans[change.stage];
      span.stage = change.stage;
      widen(span, change);
      if (!view.ranks[stream.rank].launcher) ranks[change.stage].insert(stream.rank);
    }
  for (auto& [stage, span] : spans) {
    span.ranks = ranks[stage].size();
    found.spans.push_back(span);
  }
  std::ranges::stable_sort(found.spans, [](const Span& a, const Span& b) {
    return a.begin && b.begin ? *a.begin < *b.begin : a.begin.has_value() && !b.begin;
  });
  for (std::uint32_t rank = 0; rank < view.ranks.size(); ++rank) {
    const Newest newest = newest_stage(view, view.ranks[rank]);
    const bool dense = std::ranges::binary_search(clock.dense_ranks, rank);
    const bool trains = trains_again(newest, view.ranks[rank], dense, clock);
    found.last_of_rank.push_back(trains ? Stage::training : newest.stage);
  }

  found.finished.assign(view.ranks.size(), false);
  for (const job::EventView& event : view.events) {
    if ((event.marks & wire::kMarkFinished) == 0) continue;
    for (const job::Occurrence& occurrence : event.at) {
      const job::StreamView& stream = view.streams[occurrence.stream];
      // A line that also occurs among iterations does not end the rank.
      const bool in_order = occurrence.first_line > stream.state->last_completed_line ||
                            ends_at_last(*stream.state, occurrence.stats, occurrence.time);
      // The lines of a stream tell their order better than its clock, which may be set back.
      const bool newest = stream.state->last_completed && clock.completed_by_any &&
                          *stream.state->last_completed >= *clock.completed_by_any;
      const bool in_time =
          occurrence.time && clock.last_progress
              ? newest || *occurrence.time + numbers::stage().tolerance >= *clock.last_progress
              : !others_went_on(stream, clock) ||
                    stream.state->is_among_last(occurrence.stats.last_line,
                                                numbers::stage().last_lines);
      if (in_order && in_time) found.finished[stream.rank] = true;
    }
  }
  return found;
}

}  // namespace l4::detect::stage
