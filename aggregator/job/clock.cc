#include "aggregator/job/clock.h"

#include <algorithm>
#include <map>

namespace l4::job {
namespace {

double median_of(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

struct TickDraft {
  std::optional<TimeMs> first_done, last_done;
  std::vector<double> durations;
  std::uint32_t streams = 0;
};

/// All timers of an iteration added up: what stands in for times where none are printed.
double timed_ms(const IterationRecord& record) {
  double sum = 0;
  for (const wire::TimerTotal& timer : record.timers) sum += timer.sum_ms;
  return sum;
}

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

void add_stream(const Stream& stream, std::map<Iteration, TickDraft>& drafts) {
  const Iterations::value_type* before = nullptr;
  for (const auto& entry : stream.iterations) {
    const IterationRecord& record = entry.second;
    if (!record.completed) continue;
    TickDraft& draft = drafts[entry.first];
    ++draft.streams;
    if (record.end) {
      if (!draft.first_done || *record.end < *draft.first_done) draft.first_done = record.end;
      if (!draft.last_done || *record.end > *draft.last_done) draft.last_done = record.end;
    }
    const std::int64_t step = before == nullptr ? 0 : entry.first.value() - before->first.value();
    if (step > 0 && record.end && before->second.end)
      draft.durations.push_back(static_cast<double>((*record.end - *before->second.end).count()) /
                                static_cast<double>(step));
    else if (!record.end && timed_ms(record) > 0)
      draft.durations.push_back(timed_ms(record));
    before = &entry;
  }
}

void find_dense_ranks(const JobView& view, JobClock& clock) {
  std::vector<std::int64_t> stride_of_rank(view.ranks.size(), 0);
  std::int64_t finest = 0;
  for (const StreamView& stream : view.streams) {
    if (stream.state->counted != clock.counted) continue;
    const std::int64_t stride = stride_of(*stream.state);
    if (stride <= 0) continue;
    std::int64_t& known = stride_of_rank[stream.rank];
    if (known == 0 || stride < known) known = stride;
    if (finest == 0 || stride < finest) finest = stride;
  }
  clock.stride = std::max<std::int64_t>(finest, 1);
  for (std::uint32_t rank = 0; rank < view.ranks.size(); ++rank)
    if (stride_of_rank[rank] == finest && finest > 0) clock.dense_ranks.push_back(rank);
}

void find_incomplete(const JobView& view, JobClock& clock) {
  if (!clock.completed_by_any) return;
  // Training is synchronous: a rank far behind counts something else.
  constexpr std::int64_t kLagMax = 16;
  std::optional<std::int64_t> least;
  for (const std::uint32_t rank : clock.dense_ranks) {
    const auto completed = view.ranks[rank].completed;
    if (!completed || clock.completed_by_any->value() - completed->value() > kLagMax * clock.stride)
      continue;
    if (!least || completed->value() < *least) least = completed->value();
  }
  clock.first_incomplete = Iteration{(least ? *least : clock.completed_by_any->value()) + 1};
}

/// Times between neighbouring ticks; where they carry no time, how long each iteration took.
void find_gaps(JobClock& clock) {
  std::vector<double> gaps;
  const ClockTick* before = nullptr;
  for (const ClockTick& tick : clock.ticks) {
    const bool neighbours =
        before != nullptr && tick.iteration.value() - before->iteration.value() <= clock.stride;
    if (neighbours && tick.first_done && before->first_done &&
        *tick.first_done > *before->first_done)
      gaps.push_back(static_cast<double>((*tick.first_done - *before->first_done).count()));
    else if (tick.duration_ms > 0)
      gaps.push_back(tick.duration_ms);
    before = &tick;
  }
  if (gaps.empty()) return;
  clock.gap_max_ms = *std::ranges::max_element(gaps);
  clock.gap_median_ms = median_of(gaps);
}

/// Average time of an iteration, from the ends of the files: printed timers may leave out most of
/// it.
double pace_by_file_times(const JobView& view, const JobClock& clock) {
  if (!clock.last_progress || !view.begin || clock.ticks.size() < 2) return 0;
  const auto span = static_cast<double>((*clock.last_progress - *view.begin).count());
  return std::max(0.0, span / static_cast<double>(clock.ticks.size()));
}

/// Where iteration lines carry no time, a file that ends with one stopped growing with it.
std::optional<TimeMs> progress_by_file_time(const JobView& view) {
  std::optional<TimeMs> newest;
  for (const StreamView& stream : view.streams) {
    const Stream& state = *stream.state;
    const bool from_file = stream.last_activity && stream.last_activity != state.end;
    if (!state.last_completed || !from_file || state.last_line != state.last_completed_line)
      continue;
    if (!newest || *stream.last_activity > *newest) newest = stream.last_activity;
  }
  return newest;
}

}  // namespace

JobClock make_clock(const JobView& view) {
  JobClock clock;
  std::map<Iteration, TickDraft> drafts;
  clock.counted = std::ranges::none_of(view.streams, [](const StreamView& stream) {
    return stream.state->last_completed && !stream.state->counted;
  });
  for (const StreamView& stream : view.streams)
    if (stream.state->counted == clock.counted) add_stream(*stream.state, drafts);
  for (auto& [iteration, draft] : drafts) {
    clock.ticks.push_back(
        {iteration, draft.first_done, draft.last_done, median_of(draft.durations), draft.streams});
    // Only if its newest iterations carry times does the clock know when progress ended.
    clock.last_progress = draft.last_done ? draft.last_done : std::nullopt;
    if (draft.first_done && (!clock.first_progress || *draft.first_done < *clock.first_progress))
      clock.first_progress = draft.first_done;
  }
  if (!clock.last_progress) clock.last_progress = progress_by_file_time(view);
  if (!clock.ticks.empty()) clock.completed_by_any = clock.ticks.back().iteration;
  find_dense_ranks(view, clock);
  find_incomplete(view, clock);
  find_gaps(clock);
  const bool timed =
      std::ranges::count_if(clock.ticks,
                            [](const ClockTick& tick) { return tick.first_done.has_value(); }) *
          2 >
      static_cast<std::ptrdiff_t>(clock.ticks.size());
  if (!timed) clock.gap_max_ms = std::max(clock.gap_max_ms, pace_by_file_times(view, clock));
  return clock;
}

}  // namespace l4::job
