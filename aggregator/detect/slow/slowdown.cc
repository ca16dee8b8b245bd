#include "aggregator/detect/slow/slowdown.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>
#include <utility>

#include "aggregator/job/clock.h"
#include "aggregator/job/job_state.h"
#include "aggregator/job/median.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/slow.h"
#include "common/base/earliest.h"
#include "common/wire/segment.h"

namespace l4::detect::slow {
namespace {

double median_of(std::vector<double> values) {
  return job::upper_median(values);
}

using Values = std::vector<double>;

/// Lower quartile: checkpoints and evaluations make many iterations long, none of them short.
double quartile_between(const Values& values, std::size_t from, std::size_t to) {
  Values part(values.begin() + static_cast<std::ptrdiff_t>(from),
              values.begin() + static_cast<std::ptrdiff_t>(to));
  const auto place = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 4);
  std::ranges::nth_element(part, place);
  return *place;
}

double median_between(const Values& values, std::size_t from, std::size_t to) {
  return median_of({values.begin() + static_cast<std::ptrdiff_t>(from),
                    values.begin() + static_cast<std::ptrdiff_t>(to)});
}

/// Typical deviation of the lower half of each side from its quartile, at least scatter_floor
/// (docs/DESIGN.md, "Slowness").
double scatter(const Values& logs, std::size_t split, double before, double after) {
  constexpr double kMadToSigma = 1.4826;
  const double middle_before = median_between(logs, 0, split);
  const double middle_after = median_between(logs, split, logs.size());
  Values deviations;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (logs[i] > (i < split ? middle_before : middle_after)) continue;
    deviations.push_back(std::abs(logs[i] - (i < split ? before : after)));
  }
  return kMadToSigma * std::max(numbers::slow().scatter_floor, median_of(deviations));
}

struct Split {
  std::size_t at = 0;
  double cost = -1;
};

/// Split with the least quantile loss around the two sides' lower quartiles.
Split best_split(const Values& logs, const Options& options) {
  Split best;
  for (std::size_t at = options.before_min; at + options.after_min <= logs.size(); ++at) {
    const double before = quartile_between(logs, 0, at);
    const double after = quartile_between(logs, at, logs.size());
    double cost = 0;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      const double off = logs[i] - (i < at ? before : after);
      cost += off > 0 ? numbers::slow().quantile * off : (numbers::slow().quantile - 1) * off;
    }
    if (best.cost < 0 || cost < best.cost) best = {at, cost};
  }
  return best;
}

using Ticks = std::vector<const job::ClockTick*>;

/// Signs of progress that are counted are of several kinds, each with a pace of its own (steps,
/// parts of an evaluation, blocks): only those of the kind that takes most of the time compare.
/// The stream with the most signs tells the kinds, by the line that ends each.
void keep_main_kind(const job::JobView& view, std::size_t enough, Ticks& ticks) {
  const job::StreamView* leading = nullptr;
  for (const job::StreamView& stream : view.streams)
    if (stream.state->counted &&
        (leading == nullptr || stream.state->iterations.size() > leading->state->iterations.size()))
      leading = &stream;
  if (leading == nullptr) return;
  std::map<Iteration, std::uint32_t> kinds;
  for (const auto& [iteration, record] : leading->state->iterations) {
    const job::Sequence& printed = leading->agent->sequences.at(record.sequence);
    if (!printed.empty()) kinds.emplace(iteration, printed.back());
  }
  struct Share {
    std::size_t count = 0;
    double ms = 0;
  };
  std::map<std::uint32_t, Share> shares;
  for (const job::ClockTick* tick : ticks)
    if (const auto kind = kinds.find(tick->iteration); kind != kinds.end()) {
      ++shares[kind->second].count;
      shares[kind->second].ms += tick->duration_ms;
    }
  std::erase_if(shares, [&](const auto& share) { return share.second.count < enough; });
  if (shares.empty()) return;
  const auto main =
      std::ranges::max_element(shares, {}, [](const auto& share) { return share.second.ms; });
  std::erase_if(ticks, [&](const job::ClockTick* tick) {
    const auto kind = kinds.find(tick->iteration);
    return kind == kinds.end() || kind->second != main->first;
  });
}

struct TimedTicks {
  Ticks ticks;
  std::size_t earlier = 0;  ///< number of those of the run that came before them
};

/// Ticks with a known time, of one kind. A large jump of the numbers begins another run: the newest
/// with `enough` ticks is looked at. Only the newest ticks are used, since the search is quadratic.
TimedTicks timed_ticks(const job::JobView& view, const job::JobClock& clock, std::size_t enough) {
  constexpr std::size_t kTicksMax = 400;
  Ticks ticks, run;
  const auto end_run = [&] {
    if (run.size() >= enough) ticks = std::move(run);
    run.clear();
  };
  std::int64_t before = 0;
  for (const job::ClockTick& tick : clock.ticks) {
    const std::int64_t number = tick.iteration.value();
    if (number - std::exchange(before, number) > numbers::slow().jump_strides * clock.stride)
      end_run();  // the duration across the jump is unknown
    else if (tick.duration_ms > 0)
      run.push_back(&tick);
  }
  end_run();
  if (clock.counted) keep_main_kind(view, enough, ticks);
  const std::size_t earlier = ticks.size() - std::min(ticks.size(), kTicksMax);
  ticks.erase(ticks.begin(), ticks.begin() + static_cast<std::ptrdiff_t>(earlier));
  return {std::move(ticks), earlier};
}

struct Times {
  TimeMs begin, end;
};

/// Evaluations and checkpoints that the streams with iterations told of.
std::vector<Times> pauses_of(const job::JobView& view) {
  std::vector<Times> pauses;
  for (const job::StreamView& stream : view.streams) {
    if (!stream.state->last_completed) continue;
    for (const job::StageChange& change : stream.state->stages)
      if (change.time &&
          (change.stage == Stage::evaluation || change.stage == Stage::checkpoint_save))
        pauses.push_back({*change.time, change.end.value_or(*change.time)});
  }
  std::ranges::sort(pauses, {}, &Times::begin);
  return pauses;
}

/// Leaves out iterations in which the job evaluated or saved, if others are enough. Stages that are
/// longer than the iteration are several of them, folded into one.
void leave_out_pauses(const job::JobView& view, const job::JobClock& clock, std::size_t enough,
                      Ticks& ticks) {
  const std::vector<Times> pauses = pauses_of(view);
  if (pauses.empty()) return;
  const auto has_pause = [&](const job::ClockTick* tick) {
    if (tick == clock.ticks.data() || !tick->last_done || !(tick - 1)->first_done) return false;
    const auto first = std::ranges::lower_bound(pauses, *(tick - 1)->first_done, {}, &Times::begin);
    const auto last = std::ranges::upper_bound(pauses, *tick->last_done, {}, &Times::begin);
    return first < last &&
           std::any_of(
               first, last, [&](const Times& pause) { return pause.end <= *tick->last_done; });
  };
  Ticks plain;
  std::ranges::remove_copy_if(ticks, std::back_inserter(plain), has_pause);
  if (plain.size() >= enough) ticks = std::move(plain);
}

/// Where numbers are printed more rarely from some tick on, what comes between the lines (an
/// evaluation, a checkpoint) is counted in, so durations before and behind it do not compare. Where
/// they are printed at odd times, each distance occurs on both sides.
bool prints_alike(const Ticks& ticks, std::size_t from, std::size_t to) {
  Values inside, outside;
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    const auto step =
        static_cast<double>(ticks[i]->iteration.value() - ticks[i - 1]->iteration.value());
    (i >= from && i < to ? inside : outside).push_back(step);
  }
  if (inside.empty() || outside.empty()) return true;
  const double within = median_of(inside), beyond = median_of(outside);
  const double ratio = within / beyond;
  if (ratio < numbers::slow().print_times && ratio > 1 / numbers::slow().print_times) return true;
  const auto occurs = [](double step, const Values& steps) {
    const auto [least, most] = std::ranges::minmax(steps);
    return step > least && step < most;
  };
  return occurs(within, outside) && occurs(beyond, inside);
}

struct Phase {
  std::vector<double> before, after;
};

void add_phases(const job::StreamView& stream, Iteration first, Iteration last,
                std::map<std::string, std::map<std::uint32_t, Phase>>& phases) {
  std::vector<Phase*> phase_of(stream.agent->timers.size());  // by timer; null: not asked for yet
  for (const auto& [iteration, record] : stream.state->iterations)
    for (const wire::TimerTotal& timer : record.timers) {
      if (iteration > last) continue;
      if (timer.timer >= stream.agent->timers.size() || timer.count == 0) continue;
      const wire::TimerName& known = stream.agent->timers[timer.timer];
      if (known.kind == wire::TimerKind::wait) continue;
      Phase*& phase = phase_of[timer.timer];
      if (phase == nullptr) phase = &phases[known.name][stream.rank];
      (iteration < first ? phase->before : phase->after).push_back(timer.sum_ms);
    }
}

std::vector<Drag> find_drags(const job::JobView& view, Iteration first, Iteration last) {
  std::map<std::string, std::map<std::uint32_t, Phase>> phases;
  for (const job::StreamView& stream : view.streams) add_phases(stream, first, last, phases);
  std::vector<Drag> drags;
  for (auto& [timer, ranks] : phases) {
    std::vector<double> growths;
    std::vector<Drag> of_timer;
    for (auto& [rank, phase] : ranks) {
      if (phase.before.empty() || phase.after.empty()) continue;
      const double before = median_of(phase.before);
      const double after = median_of(phase.after);
      growths.push_back(after - before);
      of_timer.push_back({rank, timer, before, after, after - before});
    }
    const double typical = median_of(growths);
    for (Drag& drag : of_timer) {
      drag.score -= typical;
      if (drag.score > 0) drags.push_back(std::move(drag));
    }
  }
  std::ranges::stable_sort(drags, std::greater<>{}, &Drag::score);
  return drags;
}

/// A phase [from, to) of the ticks and how much longer its iterations take than the others.
struct SlowPhase {
  std::size_t from = 0, to = 0;
  double before = 0, after = 0;  ///< ln ms
  bool found = false;
};

/// Of a run that took `earlier` more iterations before these. A pace that few iterations of a run
/// had, at its start, is not its usual one.
SlowPhase lasting_phase(const Values& logs, std::size_t earlier, const Options& options) {
  SlowPhase phase;
  const Split split = best_split(logs, options);
  if (split.cost < 0) return phase;
  phase = {split.at, logs.size(), quartile_between(logs, 0, split.at),
           quartile_between(logs, split.at, logs.size()), false};
  const double rise = phase.after - phase.before;
  const double middles =
      median_between(logs, split.at, logs.size()) - median_between(logs, 0, split.at);
  phase.found = (earlier + split.at) * options.usual_share >= earlier + logs.size() &&
                rise >= std::log(options.ratio_min) &&
                rise >= options.z_min * scatter(logs, split.at, phase.before, phase.after) &&
                middles >= std::log(options.ratio_min) / 2;
  return phase;
}

/// The interval after `begin` with the largest total excess over the usual time (maximum subarray).
SlowPhase slowest_stretch(const Values& logs, std::size_t begin, double usual, double limit) {
  SlowPhase best;
  double sum = 0;
  double most = 0;
  std::size_t from = begin;
  for (std::size_t i = begin; i < logs.size(); ++i) {
    if (sum <= 0) {
      sum = 0;
      from = i;
    }
    sum += std::clamp(logs[i] - usual - limit, -numbers::slow().phase_clip,
                      numbers::slow().phase_clip);
    if (sum > most) {
      most = sum;
      best.from = from;
      best.to = i + 1;
    }
  }
  return best;
}

/// A slow interval that is over, or that may still last. At the start, before the usual duration is
/// known, it is the warm-up of the job.
SlowPhase passing_phase(const Values& logs, const Options& options) {
  const double usual = median_between(logs, 0, logs.size());
  const double limit = std::log(options.passing_ratio_min) / 2;
  SlowPhase best = slowest_stretch(logs, 0, usual, limit);
  while (best.to > 0 && best.from < options.before_min)
    best = slowest_stretch(logs, best.to, usual, limit);
  best.before = quartile_between(logs, 0, logs.size());
  if (best.to - best.from < options.passing_min) return best;
  best.after = quartile_between(logs, best.from, best.to);
  best.found = best.after - best.before >= std::log(options.passing_ratio_min);
  return best;
}

/// A part of the iterations: how many are long, and how much longer than usual they all are.
struct Part {
  std::size_t count = 0, longs = 0;
  double sum = 0;  ///< of ln ms beyond usual
  double share() const { return static_cast<double>(longs) / static_cast<double>(count); }
  double mean() const { return sum / static_cast<double>(count); }
};

Part part_of(const Values& logs, std::size_t from, std::size_t to, double usual, double limit) {
  Part part;
  for (std::size_t i = from; i < to; ++i) {
    ++part.count;
    part.longs += logs[i] - usual >= limit ? 1 : 0;
    part.sum += std::clamp(logs[i] - usual, -numbers::slow().long_clip, numbers::slow().long_clip);
  }
  return part;
}

/// By how many deviations the shares of long iterations differ.
double share_z(const Part& before, const Part& after) {
  const auto n = static_cast<double>(before.count);
  const auto m = static_cast<double>(after.count);
  const double all = static_cast<double>(before.longs + after.longs) / (n + m);
  const double sigma = std::sqrt(all * (1 - all) * (1 / n + 1 / m));
  return sigma > 0 ? (after.share() - before.share()) / sigma : 0;
}

/// An interval up to the end in which many iterations are long and few were before.
SlowPhase stuttering_phase(const Values& logs, const Options& options) {
  SlowPhase phase;
  const double usual = quartile_between(logs, 0, logs.size());
  const double limit = std::log(options.long_ratio);
  double sum = 0;
  double most = 0;
  std::size_t from = logs.size();
  for (std::size_t i = logs.size(); i > 0; --i) {
    sum += (logs[i - 1] - usual >= limit ? 1.0 : 0.0) - options.long_share_min / 2;
    if (sum <= most) continue;
    most = sum;
    from = i - 1;
  }
  if (from < options.before_min || logs.size() - from < options.long_min) return phase;
  const Part before = part_of(logs, 0, from, usual, limit);
  const Part after = part_of(logs, from, logs.size(), usual, limit);
  phase = {from, logs.size(), usual + before.mean(), usual + after.mean(), false};
  phase.found = after.share() >= options.long_share_min &&
                after.share() - before.share() >= options.long_share_rise &&
                share_z(before, after) >= options.z_min &&
                phase.after - phase.before >= std::log(options.ratio_min);
  return phase;
}

/// Time that iterations [from, to) took by what is printed.
double printed_ms(const Ticks& ticks, std::size_t from, std::size_t to) {
  double ms = 0;
  for (std::size_t i = std::max<std::size_t>(from, 1); i < to; ++i)
    ms += ticks[i]->duration_ms *
          static_cast<double>(ticks[i]->iteration.value() - ticks[i - 1]->iteration.value());
  return ms;
}

/// Timers may leave out most of an iteration. Where the lines print nothing else, the phase took
/// its share of the time from the last stamp to the last progress, which file times tell.
double took_ms(const job::JobView& view, const job::JobClock& clock, const SlowPhase& phase,
               const Ticks& ticks) {
  const double printed = printed_ms(ticks, phase.from, phase.to);
  const double all = printed_ms(ticks, 0, ticks.size());
  const auto timed = std::ranges::count_if(
      ticks, [](const job::ClockTick* tick) { return tick->first_done.has_value(); });
  if (timed * 2 > std::ssize(ticks) || !clock.last_progress || !view.end || all <= 0)
    return printed;
  const auto behind = static_cast<double>((*clock.last_progress - *view.end).count());
  return std::max(printed, behind * printed / all);
}

/// The smaller a shift, the longer it must last to be told from a passing disturbance.
bool lasts(const SlowPhase& phase, double took, Millis lasting) {
  const double share = std::numbers::ln2 / (phase.after - phase.before);
  return took >= static_cast<double>(lasting.count()) * std::max(1.0, share * share);
}

/// Where a stretch may have begun: a shift that scatters too much to count began before it.
std::size_t earliest_of(const SlowPhase& shift, const Values& logs, const Options& options,
                        const SlowPhase& stretch) {
  if (shift.from == 0 || shift.from >= stretch.from) return stretch.from;
  const double between = quartile_between(logs, shift.from, stretch.from);
  return between - shift.before < std::log(options.ratio_min) ? stretch.from : shift.from;
}

/// From where on the rates are lower, if the typical iteration takes longer there, too.
SlowPhase rated_phase(const Values& logs, const Ticks& ticks, const RateFall& rates,
                      const Options& options) {
  SlowPhase phase;
  const auto first = std::ranges::find_if(
      ticks, [&](const job::ClockTick* tick) { return tick->iteration >= rates.first; });
  const auto from = static_cast<std::size_t>(first - ticks.begin());
  if (from < options.before_min || logs.size() - from < options.after_min) return phase;
  phase = {from, logs.size(), median_between(logs, 0, from),
           median_between(logs, from, logs.size()), false};
  const double rise = phase.after - phase.before;
  phase.found = rates.ratio >= options.ratio_min && rise >= std::log(rates.ratio) / 2;
  return phase;
}

/// How many of the `stride` iterations of a step were slow, where an iteration takes `usual` or
/// `slow` ms.
double slow_iterations(const job::ClockTick& step, std::int64_t stride, double usual, double slow) {
  const double near = numbers::slow().step_scatter;  // so near to one of both, it is all of it
  const double share = (step.duration_ms - usual) / (slow - usual);
  return static_cast<double>(stride) * (share < near ? 0 : share > 1 - near ? 1 : share);
}

/// The shift began within one of the two steps at its border; see slowdown.h. Steps of another
/// length, or with something between them that does not compare, are left as they are.
void place_within_step(const Values& logs, const Ticks& ticks, const SlowPhase& phase,
                       std::int64_t stride, Slowdown& found) {
  if (phase.from < 2) return;
  const job::ClockTick& border = *ticks[phase.from];
  const job::ClockTick& before = *ticks[phase.from - 1];
  const auto number = [&](std::size_t i) { return ticks[i]->iteration.value(); };
  if (number(phase.from) - number(phase.from - 1) != stride ||
      number(phase.from - 1) - number(phase.from - 2) != stride)
    return;
  const double usual = std::exp(median_between(logs, 0, phase.from));
  const double slow = std::exp(median_between(logs, phase.from, phase.to));
  const double count =
      slow_iterations(before, stride, usual, slow) + slow_iterations(border, stride, usual, slow);
  const auto whole = std::max<std::int64_t>(std::llround(count), 1);
  found.first = Iteration{border.iteration.value() - whole + 1};
  if (border.last_done) found.since = *border.last_done - Millis{std::llround(count * slow)};
}

/// Where the durations at the border are averages of both sides, the time across it tells how many
/// of its iterations were slow, unless the second that a stamp is rounded by makes up several.
void place_by_elapsed(const Values& logs, const Ticks& ticks, const SlowPhase& phase,
                      const Options& options, Slowdown& found) {
  if (phase.from < options.before_min || phase.to - phase.from < options.after_min) return;
  const job::ClockTick& before = *ticks[phase.from - options.before_min];
  const job::ClockTick& behind = *ticks[phase.from + options.after_min - 1];
  if (!before.last_done || !behind.last_done) return;
  const double usual = std::exp(median_between(logs, 0, phase.from));
  const double slow = std::exp(median_between(logs, phase.from, phase.to));
  constexpr Millis kSecond = std::chrono::seconds(1);
  if (static_cast<double>(kSecond.count()) > numbers::slow().rounded_max * (slow - usual)) return;
  const std::int64_t count = behind.iteration.value() - before.iteration.value();
  const auto elapsed = static_cast<double>((*behind.last_done - *before.last_done).count());
  const double slower = (elapsed - static_cast<double>(count) * usual) / (slow - usual);
  const auto whole = std::clamp<std::int64_t>(std::llround(slower), 1, count);
  found.first = Iteration{behind.iteration.value() - whole + 1};
  found.since = *behind.last_done - Millis{std::llround(static_cast<double>(whole) * slow)};
}

Slowdown find_among(const job::JobView& view, const job::JobClock& clock, const Options& options,
                    const std::optional<RateFall>& rates) {
  Slowdown found;
  const std::size_t enough = options.before_min + options.after_min;
  auto [ticks, earlier] = timed_ticks(view, clock, enough);
  leave_out_pauses(view, clock, enough, ticks);
  if (ticks.size() < enough) return found;
  Values logs;
  for (const job::ClockTick* tick : ticks) logs.push_back(std::log(tick->duration_ms));
  const SlowPhase shift = lasting_phase(logs, earlier, options);
  SlowPhase phase = shift;
  if (!phase.found) phase = passing_phase(logs, options);
  if (!phase.found) phase = stuttering_phase(logs, options);
  std::size_t earliest = earliest_of(shift, logs, options, phase);
  if (phase.to == logs.size()) phase.from = earliest;
  if (!phase.found && rates) {
    phase = rated_phase(logs, ticks, *rates, options);
    earliest = phase.from;
  }
  found.ratio = std::exp(phase.after - phase.before);
  if (!phase.found || found.ratio > options.ratio_max) return found;
  if (!prints_alike(ticks, phase.from, phase.to)) return found;
  if (!lasts(phase, took_ms(view, clock, phase, ticks), options.lasting)) return found;
  found.found = true;
  found.first = ticks[phase.from]->iteration;
  found.last = ticks[phase.to - 1]->iteration;
  found.before_ms = std::exp(phase.before);
  found.after_ms = std::exp(phase.after);
  const auto begin_of = [&](std::size_t at) {
    return at > 0 ? ticks[at - 1]->last_done : std::nullopt;
  };
  found.since = begin_of(phase.from);
  // Where only some iterations are long, a step at the border tells nothing.
  if (clock.stride > 1 && !clock.counted && shift.found)
    place_within_step(logs, ticks, phase, clock.stride, found);
  if (clock.rounded && !clock.counted && shift.found)
    place_by_elapsed(logs, ticks, phase, options, found);
  found.earliest = std::min(found.first, ticks[earliest]->iteration);
  found.earliest_since = begin_of(earliest);
  if (found.earliest_since && found.since) keep_earliest(found.earliest_since, found.since);
  found.drags = find_drags(view, found.first, found.last);
  // A job that is slow everywhere also has a slowest rank, by a little.
  std::erase_if(found.drags, [&](const Drag& drag) {
    return drag.score < options.drag_share_min * (found.after_ms - found.before_ms);
  });
  return found;
}

}  // namespace

bool has_few_ticks(const job::JobClock& clock, const Options& options) {
  const auto timed = std::ranges::count_if(
      clock.ticks, [](const job::ClockTick& tick) { return tick.duration_ms > 0; });
  return static_cast<std::size_t>(timed) < options.before_min + options.after_min;
}

namespace {

/// Too few ticks, but each is the average of some iterations, and together they are enough.
bool is_printed_rarely(const job::JobClock& clock, const Options& options) {
  if (!has_few_ticks(clock, options) || clock.ticks.empty()) return false;
  const std::int64_t covered =
      clock.ticks.back().iteration.value() - clock.ticks.front().iteration.value();
  return covered >= static_cast<std::int64_t>(2 * (options.before_min + options.after_min));
}

}  // namespace

Slowdown find_slowdown(const job::JobView& view, const job::JobClock& clock, const Options& options,
                       std::optional<RateFall> rates) {
  Slowdown found = find_among(view, clock, options, rates);
  if (found.found || clock.counted || !is_printed_rarely(clock, options)) return found;
  Options rare = options;
  rare.before_min = options.rare_before_min;
  rare.after_min = options.rare_after_min;
  rare.ratio_min = std::max(options.ratio_min, options.rare_ratio_min);
  return find_among(view, clock, rare, rates);
}

}  // namespace l4::detect::slow
