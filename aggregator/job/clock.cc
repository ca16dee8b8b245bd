#include "aggregator/job/clock.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "aggregator/job/job_state.h"
#include "aggregator/job/laps.h"
#include "aggregator/job/median.h"
#include "aggregator/job/view.h"
#include "common/base/check.h"
#include "common/base/earliest.h"
#include "common/wire/segment.h"

namespace l4::job {
namespace {

struct TickDraft {
  std::optional<TimeMs> first_done, last_done;
  std::vector<double> durations;
  std::vector<double> timed;  ///< durations by timers alone
  std::uint32_t streams = 0;
};

std::int64_t stride_of(const Stream& stream) {
  std::map<std::int64_t, int> steps;
  std::optional<Iteration> before;
  int looked = 0;
  for (auto it = stream.iterations.rbegin(); it != stream.iterations.rend() && looked < 64; ++it) {
    if (!it->second.completed) continue;
    if (before) ++steps[before->value() - it->first.value()];
    before = it->first;
    ++looked;
  }
  std::int64_t best = 0;
  int most = 0;
  for (const auto& [step, count] : steps)
    if (step > 0 && count > most) {
      best = step;
      most = count;
    }
  return best;
}

/// Pairs of neighbouring numbers of a stream: how many of them alternate in print, and how many of
/// those that have times grow with time. Clocks of nodes differ, so streams are not compared.
struct Turns {
  std::size_t pairs = 0, mixed = 0;
  std::size_t forward = 0, backward = 0;
};

/// A number that is printed again after the next number began overlaps most of the next number's
/// time. (Ranks that share a file overlap less.)
bool is_mixed(const IterationRecord& before, const IterationRecord& next) {
  if (!before.end || !next.begin || !next.end) return false;
  return 2 * (*before.end - *next.begin) > *next.end - *next.begin;
}

void add_stream(const StreamView& view, std::map<Iteration, TickDraft>& drafts, Turns& turns) {
  const Iterations::value_type* before = nullptr;
  auto at = drafts.begin();  // numbers ascend, and most streams print the same ones
  for (const auto& entry : view.state->iterations) {
    const IterationRecord& record = entry.second;
    if (!record.completed) continue;
    if (at == drafts.end() || at->first != entry.first) at = drafts.try_emplace(at, entry.first);
    TickDraft& draft = at++->second;
    ++draft.streams;
    if (record.end) {
      keep_earliest(draft.first_done, record.end);
      keep_latest(draft.last_done, record.end);
    }
    const double timed = timed_ms(record, view.agent->timers);
    if (timed > 0) draft.timed.push_back(timed);
    const std::int64_t step = before == nullptr ? 0 : entry.first.value() - before->first.value();
    if (before != nullptr) {
      ++turns.pairs;
      turns.mixed += is_mixed(before->second, record) ? 1 : 0;
      if (record.end && before->second.end)
        ++(*record.end >= *before->second.end ? turns.forward : turns.backward);
    }
    if (step > 0 && record.end && before->second.end)
      draft.durations.push_back(lap_ms(before->second, record) / static_cast<double>(step));
    else if (!record.end && timed > 0)
      draft.durations.push_back(timed);
    before = &entry;
  }
}

/// `counted`: which streams the ticks come from. If their numbers do not grow with time,
/// `dense_ranks` stays empty, since being behind means nothing.
void find_dense_ranks(const JobView& view, bool counted, JobClock& clock) {
  std::vector<std::int64_t> stride_of_rank(view.ranks.size(), 0);
  std::int64_t finest = 0;
  for (const StreamView& stream : view.streams) {
    if (stream.state->counted != counted) continue;
    const std::int64_t stride = stride_of(*stream.state);
    if (stride <= 0) continue;
    L4_CHECK(stream.rank < view.ranks.size(), "{} is of rank {} of {}", stream.state->source.path,
             stream.rank, view.ranks.size());
    std::int64_t& known = stride_of_rank[stream.rank];
    if (known == 0 || stride < known) known = stride;
    if (finest == 0 || stride < finest) finest = stride;
  }
  clock.stride = std::max<std::int64_t>(finest, 1);
  if (counted != clock.counted) return;
  for (std::uint32_t rank = 0; rank < view.ranks.size(); ++rank)
    if (stride_of_rank[rank] == finest && finest > 0) clock.dense_ranks.push_back(rank);
}

void find_incomplete(const JobView& view, JobClock& clock) {
  if (!clock.completed_by_any) return;
  std::optional<std::int64_t> least;
  for (const std::uint32_t rank : clock.dense_ranks) {
    const auto completed = view.ranks[rank].completed;
    if (!completed || clock.is_far_behind(*completed)) continue;
    keep_earliest(least, completed->value());
  }
  clock.first_incomplete = Iteration{(least ? *least : clock.completed_by_any->value()) + 1};
}

/// Times between neighbouring ticks; where ticks carry no time, the duration of each iteration. If
/// numbers do not grow with time, the largest gap may lie between two runs: then the median counts.
/// The largest gap may skip numbers that no rank printed, but only a few.
void find_gaps(JobClock& clock) {
  constexpr std::int64_t kPassedOverMax = 16;
  std::vector<double> gaps;
  const ClockTick* before = nullptr;
  for (const ClockTick& tick : clock.ticks) {
    const std::int64_t step =
        before == nullptr ? 0 : tick.iteration.value() - before->iteration.value();
    L4_CHECK(before == nullptr || before->iteration < tick.iteration, "iteration {} follows {}",
             tick.iteration, before->iteration);
    double gap = 0;
    if (before != nullptr && tick.first_done && before->first_done)
      gap = static_cast<double>((*tick.first_done - *before->first_done).count());
    if (gap > 0 && step <= clock.stride)
      gaps.push_back(gap);
    else if (tick.duration_ms > 0)
      gaps.push_back(tick.duration_ms);
    if (step <= kPassedOverMax * clock.stride) clock.gap_max_ms = std::max(clock.gap_max_ms, gap);
    before = &tick;
  }
  if (gaps.empty()) return;
  clock.gap_max_ms = std::max(clock.gap_max_ms, *std::ranges::max_element(gaps));
  clock.gap_median_ms = upper_median(gaps);
  if (!clock.paced) clock.gap_max_ms = clock.gap_median_ms;
}

/// Average time of an iteration, by the ends of files, because printed timers may leave out most of
/// it.
double pace_by_file_times(const JobView& view, const JobClock& clock) {
  if (!clock.last_progress || !view.begin || clock.ticks.size() < 2) return 0;
  const auto span = static_cast<double>((*clock.last_progress - *view.begin).count());
  return std::max(0.0, span / static_cast<double>(clock.ticks.size()));
}

/// For iteration lines without times. A file that ends among iteration lines stopped growing when
/// progress ended; behind its last iteration it has only lines that it also printed before. The
/// earliest such file counts, because a failure may repeat lines that were noise before it.
std::optional<TimeMs> progress_by_file_time(const JobView& view) {
  std::vector<std::uint64_t> completed(view.streams.size());  // last lines
  std::vector<bool> ordinary(view.streams.size(), true);
  for (std::size_t i = 0; i < completed.size(); ++i)
    completed[i] = view.streams[i].state->last_completed_line;
  for (const EventView& event : view.events)
    for (const Occurrence& occurrence : event.at)
      if (occurrence.first_line > completed[occurrence.stream]) ordinary[occurrence.stream] = false;
  std::optional<TimeMs> exact;
  std::optional<TimeMs> earliest;
  for (std::size_t i = 0; i < view.streams.size(); ++i) {
    const StreamView& stream = view.streams[i];
    const bool untimed_tail = stream.state->last_line > stream.state->timed_last_line;
    if (!stream.state->last_completed || !stream.grew_until || !untimed_tail || !ordinary[i])
      continue;
    const bool ends_with_it = stream.state->last_line == completed[i];
    if (ends_with_it) keep_latest(exact, stream.grew_until);
    keep_earliest(earliest, stream.grew_until);
  }
  return exact ? exact : earliest;
}

/// How many of `count` events between first and last came before `time`, if they are spread evenly.
double until(TimeMs time, TimeMs first, TimeMs last, std::uint64_t count) {
  const auto all = static_cast<double>(count);
  if (last <= time) return all;
  return all * static_cast<double>((time - first).count()) /
         static_cast<double>((last - first).count());
}

/// Lines that accompanied the iterations from early on (at least one in five) prove progress as
/// well as iterations do. Rarer lines may be printed by a timer, whatever the job does.
std::optional<TimeMs> progress_by_habit(const JobView& view, const JobClock& clock) {
  constexpr std::size_t kTimesMin = 3;
  if (!clock.first_progress || !clock.last_progress) return std::nullopt;
  const TimeMs early = *clock.first_progress + (*clock.last_progress - *clock.first_progress) / 2;
  const auto often = static_cast<double>(std::max(kTimesMin, clock.ticks.size() / 5));
  std::vector<std::uint64_t> timed(view.streams.size());  // last lines
  for (std::size_t i = 0; i < timed.size(); ++i) timed[i] = view.streams[i].state->timed_last_line;
  std::optional<TimeMs> newest;
  for (const EventView& event : view.events) {
    if (event.level >= Level::warning) continue;
    for (const Occurrence& occurrence : event.at) {
      if (occurrence.first_line > timed[occurrence.stream]) continue;
      const auto& first = occurrence.stats.first_time;
      const auto& last = occurrence.stats.last_time;
      if (!last || !first || *first > early) continue;
      if (until(*clock.last_progress, *first, *last, occurrence.stats.count) < often) continue;
      keep_latest(newest, last);
    }
  }
  return newest;
}

/// Where the newest iteration was printed without a time, a sign of progress that has one stands
/// for it, if it stands behind that iteration in its log: an older one tells nothing of the end.
std::optional<TimeMs> progress_by_signs(const JobView& view) {
  std::optional<TimeMs> newest;
  for (const EventView& event : view.events) {
    if ((event.marks & wire::kMarkProgress) == 0) continue;
    for (const Occurrence& occurrence : event.at) {
      const Stream& stream = *view.streams[occurrence.stream].state;
      if (occurrence.exact && occurrence.stats.last_time &&
          occurrence.stats.last_line >= stream.last_completed_line)
        keep_latest(newest, std::optional<TimeMs>(*occurrence.stats.last_time));
    }
  }
  return newest;
}

/// Numbers that do not grow with time count samples or several runs in one file, not iterations.
bool grows_with_time(const Turns& turns) {
  return turns.mixed * 4 <= turns.pairs && turns.backward * 10 <= turns.forward;
}

/// Most stamps are whole seconds.
bool has_whole_seconds(const std::vector<ClockTick>& ticks) {
  std::size_t timed = 0, whole = 0;
  for (const ClockTick& tick : ticks) {
    if (!tick.first_done) continue;
    ++timed;
    whole += tick.first_done->time_since_epoch() % std::chrono::seconds{1} == Millis{0} ? 1 : 0;
  }
  return whole * 20 >= timed * 19;
}

/// Such stamps say little of iterations that take less: their durations are 0 or 1 s.
bool are_coarse(const std::vector<ClockTick>& ticks) {
  const auto zero = static_cast<std::size_t>(std::ranges::count_if(
      ticks, [](const ClockTick& tick) { return tick.first_done && tick.duration_ms <= 0; }));
  return zero * 3 >= ticks.size() || (zero * 20 >= ticks.size() && has_whole_seconds(ticks));
}

/// Takes durations from timers if these cover most of the time; false if they do not.
bool use_timers(std::vector<ClockTick>& ticks, const std::vector<double>& timed) {
  constexpr double kMost = 0.6, kAll = 1.2;
  L4_CHECK(ticks.size() == timed.size(), "{} ticks, {} sums of timers", ticks.size(), timed.size());
  double sum = 0, elapsed = 0;
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    if (timed[i] <= 0 || !ticks[i].first_done || !ticks[i - 1].first_done) continue;
    sum += timed[i];
    elapsed += static_cast<double>((*ticks[i].first_done - *ticks[i - 1].first_done).count()) /
               static_cast<double>(std::max<std::int64_t>(
                   ticks[i].iteration.value() - ticks[i - 1].iteration.value(), 1));
  }
  if (elapsed <= 0 || sum < kMost * elapsed || sum > kAll * elapsed) return false;
  for (std::size_t i = 0; i < ticks.size(); ++i) ticks[i].duration_ms = timed[i];
  return true;
}

/// Otherwise each tick gets the average duration of the kSpan ticks around it.
void smooth_coarse_times(JobClock& clock, const std::vector<double>& timed) {
  constexpr std::size_t kSpan = 8;
  auto& ticks = clock.ticks;
  if (ticks.size() < 3 * kSpan || use_timers(ticks, timed)) return;
  clock.rounded = true;
  std::vector<double> smooth(ticks.size(), 0);
  for (std::size_t i = kSpan / 2; i + kSpan / 2 < ticks.size(); ++i) {
    const ClockTick& from = ticks[i - kSpan / 2];
    const ClockTick& to = ticks[i + kSpan / 2];
    const std::int64_t steps = to.iteration.value() - from.iteration.value();
    if (from.first_done && to.first_done && steps > 0 && *to.first_done > *from.first_done)
      smooth[i] = static_cast<double>((*to.first_done - *from.first_done).count()) /
                  static_cast<double>(steps);
  }
  for (std::size_t i = 0; i < ticks.size(); ++i) ticks[i].duration_ms = smooth[i];
}

/// Iterations between a tick and the one before it.
double step_at(const std::vector<ClockTick>& ticks, std::size_t i) {
  return static_cast<double>(ticks[i].iteration.value() - ticks[i - 1].iteration.value());
}

/// From tick to tick few whole seconds pass: by its stamps a tick takes up to a second more or less
/// than it did.
bool are_rounded(const std::vector<ClockTick>& ticks) {
  constexpr double kFewMs = 6'000;
  std::vector<double> steps;
  for (std::size_t i = 1; i < ticks.size(); ++i)
    if (ticks[i].first_done && ticks[i].duration_ms > 0)
      steps.push_back(ticks[i].duration_ms * step_at(ticks, i));
  return !steps.empty() && upper_median(steps) <= kFewMs && has_whole_seconds(ticks);
}

/// Gives each of these ticks the mean of those around it that are within a second of the usual one;
/// what is further away keeps its duration.
void even_out_seconds(JobClock& clock) {
  constexpr std::size_t kSpan = 8;
  auto& ticks = clock.ticks;
  if (ticks.size() < 3 * kSpan || !are_rounded(ticks)) return;
  clock.rounded = true;
  std::vector<double> even, around;
  for (const ClockTick& tick : ticks) even.push_back(tick.duration_ms);
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    if (even[i] <= 0) continue;
    const std::size_t from = i < kSpan / 2 ? 0 : i - kSpan / 2;
    const std::size_t to = std::min(from + kSpan + 1, ticks.size());
    around.clear();
    for (std::size_t k = from; k < to; ++k)
      if (ticks[k].duration_ms > 0) around.push_back(ticks[k].duration_ms);
    const double usual = upper_median(around), second = 1000 / step_at(ticks, i);
    if (std::abs(even[i] - usual) > second) continue;
    std::erase_if(around, [&](double ms) { return std::abs(ms - usual) > second; });
    even[i] =
        std::accumulate(around.begin(), around.end(), 0.0) / static_cast<double>(around.size());
  }
  for (std::size_t i = 0; i < ticks.size(); ++i) ticks[i].duration_ms = even[i];
}

/// The clock of the streams whose iterations are counted, or, if not `counted`, printed.
JobClock clock_of(const JobView& view, bool counted) {
  JobClock clock;
  clock.counted = counted;
  std::map<Iteration, TickDraft> drafts;
  Turns turns;
  for (const StreamView& stream : view.streams)
    if (stream.state->counted == counted) add_stream(stream, drafts, turns);
  std::size_t timed = 0;
  std::vector<double> by_timers;
  for (auto& [iteration, draft] : drafts) {
    by_timers.push_back(upper_median(draft.timed));
    clock.ticks.push_back({iteration, draft.first_done, draft.last_done,
                           upper_median(draft.durations), draft.streams});
    // The clock knows when progress ended only if its newest iterations carry times.
    clock.last_progress = draft.last_done ? draft.last_done : std::nullopt;
    if (draft.last_done) ++timed;
    keep_earliest(clock.first_progress, draft.first_done);
  }
  if (!clock.ticks.empty()) clock.completed_by_any = clock.ticks.back().iteration;
  if (!grows_with_time(turns)) {
    clock.paced = false;
    clock.counted = true;
    for (ClockTick& tick : clock.ticks) tick.duration_ms = 0;
  }
  if (clock.paced && are_coarse(clock.ticks))
    smooth_coarse_times(clock, by_timers);
  else if (clock.paced)
    even_out_seconds(clock);
  const auto by_iterations = clock.last_progress;
  if (!counted && !clock.last_progress) clock.last_progress = progress_by_signs(view);
  if (const auto file = progress_by_file_time(view))
    clock.last_progress = std::max(clock.last_progress.value_or(*file), *file);
  if (const auto habit = progress_by_habit(view, clock); habit && clock.last_progress)
    clock.last_progress = std::max(*clock.last_progress, *habit);
  clock.loose = by_iterations && clock.last_progress == by_iterations &&
                std::ranges::all_of(view.streams, [&](const StreamView& stream) {
                  return !stream.state->last_completed || stream.state->counted != counted ||
                         stream.state->is_dated_loosely();
                });
  find_dense_ranks(view, counted, clock);
  find_incomplete(view, clock);
  find_gaps(clock);
  if (timed * 2 <= clock.ticks.size()) {
    const double pace = pace_by_file_times(view, clock);
    if (pace > 3 * clock.gap_median_ms) clock.paced = false;
    clock.gap_max_ms = std::max(clock.gap_max_ms, pace);
  }
  return clock;
}

/// If few iterations are printed but other ranks keep giving signs of progress, the signs decide
/// whether the job goes on.
void heed_signs(const JobClock& signs, JobClock& clock) {
  constexpr std::size_t kSignsMin = 6;
  if (signs.ticks.size() < kSignsMin || !signs.last_progress || !signs.paced) return;
  clock.last_progress = std::max(clock.last_progress, signs.last_progress);
  clock.gap_max_ms = std::max(clock.gap_max_ms, signs.gap_max_ms);
  clock.gap_median_ms = std::max(clock.gap_median_ms, signs.gap_median_ms);
}

}  // namespace

JobClock make_clock(const JobView& view) {
  constexpr std::size_t kPrintedMin = 3;
  const auto any = [&](bool counted) {
    return std::ranges::any_of(view.streams, [&](const StreamView& stream) {
      return stream.state->last_completed && stream.state->counted == counted;
    });
  };
  if (!any(false)) return clock_of(view, true);
  JobClock clock = clock_of(view, false);
  if (clock.ticks.size() < kPrintedMin && any(true)) heed_signs(clock_of(view, true), clock);
  return clock;
}

}  // namespace l4::job
