#include "aggregator/detect/delay/stalls.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "aggregator/detect/delay/pauses.h"
#include "aggregator/detect/delay/phases.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/job_state.h"
#include "aggregator/job/laps.h"
#include "aggregator/job/median.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/delay.h"

namespace l4::detect::delay {
namespace {

/// A lap of the job: the median over the streams that print it.
struct JobLap {
  Iteration iteration{0};
  std::int64_t steps = 1;
  double ms = 0, usual_ms = 0;
  double excess() const { return ms - usual_ms; }
};

/// Times are known no better than this.
double step_ms(const job::JobView& view, const job::JobClock& clock,
               const std::vector<job::Stamps>& stamps) {
  Millis step{1};
  for (std::size_t i = 0; i < stamps.size(); ++i)
    if (stamps[i].printed && view.streams[i].state->counted == clock.counted)
      step = std::max(step, stamps[i].step);
  return step == Millis{1} ? 0 : static_cast<double>(step.count());
}

std::vector<JobLap> laps_of_job(const job::JobView& view, const job::JobClock& clock,
                                const std::vector<job::Stamps>& stamps) {
  std::vector<std::size_t> streams;
  for (std::size_t i = 0; i < view.streams.size(); ++i)
    if (!view.streams[i].state->iterations.empty() &&
        view.streams[i].state->counted == clock.counted)
      streams.push_back(i);
  const std::size_t every = std::max<std::size_t>(1, streams.size() / kStreamsMax);
  std::map<Iteration, std::pair<std::int64_t, std::vector<double>>> drafts;
  for (std::size_t i = 0; i < streams.size(); i += every) {
    const job::Stream& stream = *view.streams[streams[i]].state;
    for (const job::Lap& lap : job::laps_of(stream, stamps[streams[i]], stream.iterations.size())) {
      auto& [steps, ms] = drafts[lap.iteration];
      steps = std::max(steps, lap.steps);
      ms.push_back(lap.ms);
    }
  }
  std::vector<JobLap> laps;
  laps.reserve(drafts.size());
  for (auto& [iteration, draft] : drafts)
    laps.push_back({iteration, draft.first, job::lower_median(draft.second), 0});
  return laps;
}

/// What is usual around each lap: the job's pace may change. Laps over more numbers than usual are
/// longer accordingly.
void set_usual(std::vector<JobLap>& laps) {
  for (std::size_t i = 0; i < laps.size(); ++i) {
    const std::size_t from =
        i > numbers::delay().stall_around ? i - numbers::delay().stall_around : 0;
    const std::size_t to = std::min(laps.size(), i + numbers::delay().stall_around + 1);
    std::vector<double> near;
    for (std::size_t k = from; k < to; ++k)
      if (k != i) near.push_back(laps[k].ms / static_cast<double>(laps[k].steps));
    laps[i].usual_ms =
        near.empty() ? laps[i].ms : job::lower_median(near) * static_cast<double>(laps[i].steps);
  }
}

/// Numbers that begin anew, or that jump, follow a start of training, an epoch or a restart.
std::vector<bool> warming_up(const job::JobView& view, const std::vector<JobLap>& laps,
                             std::size_t warm_up) {
  std::vector<bool> warm(laps.size(), false);
  std::int64_t stride = 0;
  for (const JobLap& lap : laps) stride = stride == 0 ? lap.steps : std::min(stride, lap.steps);
  for (std::size_t i = 0; i < laps.size(); ++i)
    if (i == 0 || laps[i].steps > numbers::delay().stall_jump * stride)
      for (std::size_t k = i; k < std::min(laps.size(), i + warm_up); ++k) warm[k] = true;
  for (const job::StreamView& stream : view.streams)
    for (const job::EpochBegin& epoch : stream.state->epochs) {
      const auto first = std::ranges::lower_bound(laps, epoch.from, {}, &JobLap::iteration);
      for (auto lap = first; lap != laps.end() && lap < first + 2; ++lap)
        warm[static_cast<std::size_t>(lap - laps.begin())] = true;
    }
  return warm;
}

/// Three or more at equal distances: something that the job does every so often.
bool recurs_evenly(std::vector<std::int64_t> numbers) {
  if (numbers.size() < numbers::delay().even_min) return false;
  std::ranges::sort(numbers);
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < numbers.size(); ++i) gaps.push_back(numbers[i] - numbers[i - 1]);
  std::vector<std::int64_t> sorted = gaps;
  const std::int64_t usual = job::lower_median(sorted);
  const auto even = std::ranges::count_if(gaps, [&](std::int64_t gap) {
    const std::int64_t off = std::min(gap % usual, usual - gap % usual);
    return off * numbers::delay().even_off_part <= usual;
  });
  return even * 100 >= std::ssize(gaps) * numbers::delay().even_percent;
}

struct Found {
  JobLap lap;
  std::optional<Holdup> holdup;
};

Delay delay_of(const std::vector<Found>& alike) {
  const Found& worst =
      *std::ranges::max_element(alike, {}, [](const Found& one) { return one.lap.ms; });
  Delay delay;
  delay.kind = DelayKind::stall;
  delay.iteration = worst.lap.iteration;
  delay.ms = worst.lap.ms;
  delay.usual_ms = worst.lap.usual_ms;
  delay.count = alike.size();
  if (!worst.holdup) return delay;
  delay.rank = worst.holdup->rank;
  delay.phase = worst.holdup->phase;
  delay.phase_ms = worst.holdup->ms;
  delay.phase_usual_ms = worst.holdup->usual_ms;
  return delay;
}

class Stalls {
 public:
  Stalls(const job::JobView& view, const job::JobClock& clock, const StallOptions& options)
      : view_(view),
        options_(options),
        numbered_(job::number_streams(view)),
        stamps_(job::stamps_of(view)),
        step_ms_(step_ms(view, clock, stamps_)),
        laps_(laps_of_job(view, clock, stamps_)) {
    set_usual(laps_);
  }

  std::vector<Delay> find() {
    std::vector<Delay> delays;
    if (laps_.size() < options_.laps_min) return delays;
    std::vector<Found> nameless;
    std::map<std::pair<std::string, std::uint32_t>, std::vector<Found>> named;
    for (const JobLap* lap : candidates()) {
      Found found = explain(*lap);
      const bool held = found.holdup && found.holdup->rank;
      if (held && !found.holdup->phase.empty() && !names_pause(found.holdup->phase)) {
        named[{found.holdup->phase, *found.holdup->rank}].push_back(std::move(found));
        continue;
      }
      if (!stands_out(*lap) || is_usual(*lap)) continue;
      if (held)
        named[{found.holdup->phase, *found.holdup->rank}].push_back(std::move(found));
      else
        nameless.push_back(std::move(found));
    }
    for (auto& [key, alike] : named)
      if (!key.first.empty() || !is_habit(alike)) delays.push_back(delay_of(alike));
    if (!nameless.empty() && !is_habit(nameless)) delays.push_back(delay_of(nameless));
    std::ranges::stable_sort(delays, std::greater<>{},
                             [](const Delay& one) { return one.ms - one.usual_ms; });
    return delays;
  }

 private:
  /// Where the line that marks an iteration is not its last one, the phase that held it up may
  /// stand in the iteration before.
  Found explain(const JobLap& lap) const {
    Found found{lap, find_holdup(view_, numbered_, stamps_, lap.iteration, lap.excess())};
    const auto is_named = [](const std::optional<Holdup>& holdup) {
      return holdup && holdup->rank && !holdup->phase.empty();
    };
    if (is_named(found.holdup)) return found;
    const Iteration before{lap.iteration.value() - lap.steps};
    auto earlier = find_holdup(view_, numbered_, stamps_, before, lap.excess());
    if (!is_named(earlier)) return found;
    found.lap.iteration = before;
    found.holdup = std::move(earlier);
    return found;
  }
  bool exceeds(const JobLap& lap, double ratio, double excess_ms) const {
    return lap.ms - 2 * step_ms_ >= ratio * lap.usual_ms &&
           lap.excess() >= excess_ms + 2 * step_ms_;
  }
  bool stands_out(const JobLap& lap) const {
    return exceeds(lap, options_.ratio_min, options_.excess_min_ms) &&
           lap.excess() >= 2 * ordinary_excess_;
  }

  /// The longest laps behind the warm-up.
  std::vector<const JobLap*> candidates() {
    const auto warm = warming_up(view_, laps_, options_.warm_up);
    std::vector<const JobLap*> longest;
    std::vector<double> excesses;
    for (std::size_t i = 0; i < laps_.size(); ++i) {
      excesses.push_back(laps_[i].excess());
      if (!warm[i] && exceeds(laps_[i], options_.held_ratio_min, options_.held_excess_min_ms))
        longest.push_back(&laps_[i]);
    }
    const auto rank =
        static_cast<std::ptrdiff_t>(static_cast<double>(excesses.size()) * (1 - options_.often));
    const auto place = excesses.begin() + std::min<std::ptrdiff_t>(rank, std::ssize(excesses) - 1);
    std::ranges::nth_element(excesses, place);
    ordinary_excess_ = excesses.size() < numbers::delay().ordinary_min ? 0 : *place;
    std::ranges::stable_sort(longest, std::greater<>{},
                             [](const JobLap* lap) { return lap->excess(); });
    if (longest.size() > kStallsMax) longest.resize(kStallsMax);
    return longest;
  }

  bool is_long(Iteration iteration, double than_ms) const {
    const auto lap = std::ranges::lower_bound(laps_, iteration, {}, &JobLap::iteration);
    return lap != laps_.end() && lap->iteration == iteration && lap->excess() >= than_ms;
  }

  bool is_usual(const JobLap& lap) const {
    return is_pause(view_, lap.iteration, [&](Iteration other) {
      return is_long(other, numbers::delay().stall_alike * lap.excess());
    });
  }

  bool is_habit(const std::vector<Found>& alike) const {
    std::vector<std::int64_t> numbers;
    numbers.reserve(alike.size());
    for (const Found& one : alike) numbers.push_back(one.lap.iteration.value());
    const double most =
        std::max(numbers::delay().often_min, options_.often * static_cast<double>(laps_.size()));
    return static_cast<double>(numbers.size()) > most || recurs_evenly(std::move(numbers));
  }

  const job::JobView& view_;
  const StallOptions& options_;
  job::NumberedStreams numbered_;
  std::vector<job::Stamps> stamps_;
  double step_ms_ = 0;  ///< 0: exact
  std::vector<JobLap> laps_;
  double ordinary_excess_ = 0;
};

}  // namespace

std::vector<Delay> find_stalls(const job::JobView& view, const job::JobClock& clock,
                               const StallOptions& options) {
  if (!clock.paced) return {};
  return Stalls(view, clock, options).find();
}

}  // namespace l4::detect::delay
