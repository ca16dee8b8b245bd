#include "aggregator/flows/steps.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "aggregator/flows/numbers.h"

namespace l4::flows {
namespace {

constexpr std::size_t kEventsMax = 768;  // in a step

TimeNs gap_before(const std::vector<Beat>& beats, std::size_t at) {
  return std::max<TimeNs>(0, beats[at].start - beats[at - 1].end);
}

/// The beats as arrays, for the loops over all numbers of events.
struct Series {
  explicit Series(const std::vector<Beat>& beats) {
    ends.reserve(beats.size());
    sizes.reserve(beats.size());
    for (const Beat& beat : beats) {
      ends.push_back(static_cast<double>(beat.end - beats.front().end));
      sizes.push_back(static_cast<double>(beat.bytes));
    }
  }
  std::size_t size() const { return ends.size(); }

  std::vector<double> ends;  ///< since the first one's
  std::vector<double> sizes;
};

/// Beats on which one number of events is tried: enough steps to tell, few enough to be early.
std::size_t prefix_of(std::size_t beats, std::size_t events) {
  constexpr std::size_t kSteps = 24;
  return std::min(beats, events * kSteps + 1);
}

/// Share of beats whose length of `events` events is that of the step before, within `tolerance`.
double regularity(const Series& beats, std::size_t events, double tolerance) {
  const std::size_t size = prefix_of(beats.size(), events);
  if (size <= 2 * events) return 0;
  const double longest = std::exp(tolerance), shortest = 1 / longest;
  const double* const ends = beats.ends.data();
  std::size_t alike = 0;
  for (std::size_t i = 0; i + 2 * events < size; ++i) {
    const double one = ends[i + events] - ends[i];
    const double two = ends[i + 2 * events] - ends[i + events];
    const bool is_alike = (one > 0) & (two > one * shortest) & (two < one * longest);
    alike += is_alike ? 1 : 0;
  }
  return static_cast<double>(alike) / static_cast<double>(size - 2 * events);
}

constexpr double kRepeatsWorse = 1.5, kRepeatsSlack = 0.012;

/// What may be missing from a repetition that counts as well as the best one.
double missing_max(double best) {
  return kRepeatsWorse * (1 - best) + kRepeatsSlack;
}

/// Share of beats whose size is that of `events` beats before; less than that where it is clear
/// that it does not count beside `best`.
double repetition(const Series& beats, std::size_t events, double tolerance, double best) {
  constexpr std::size_t kSteps = 6, kBlock = 256;
  const std::size_t size = std::min(beats.size(), events * kSteps);
  if (size <= events) return 0;
  const std::size_t count = size - events;
  const double all = static_cast<double>(count);
  const double* const early = beats.sizes.data();
  const double* const late = early + events;
  std::size_t alike = 0;
  for (std::size_t from = 0; from < count; from += kBlock) {
    const std::size_t to = std::min(count, from + kBlock);
    for (std::size_t i = from; i < to; ++i) {
      const double larger = std::max(early[i], late[i]);
      alike += std::abs(early[i] - late[i]) <= tolerance * larger ? 1 : 0;
    }
    if (static_cast<double>(to - alike) / all > missing_max(best))
      return static_cast<double>(alike + count - to) / all;
  }
  return static_cast<double>(alike) / all;
}

/// Repetition for each number of events up to `most`; zeros if sizes do not tell.
std::vector<double> repetitions(const Series& beats, std::size_t most, double tolerance) {
  std::vector<double> repeats(most + 1);
  if (most == 0) return repeats;
  const auto [least, largest] = std::ranges::minmax(beats.sizes);
  const bool are_equal = largest - least <= tolerance * least;
  double best = 0;
  for (std::size_t events = 1; events <= most; ++events) {
    repeats[events] = are_equal ? 1 : repetition(beats, events, tolerance, best);
    best = std::max(best, repeats[events]);
  }
  return repeats;
}

/// Mean difference between a length of `events` events and that of the step before, as a log.
double unrest(const Series& beats, std::size_t events) {
  constexpr double kMost = 0.2;
  constexpr std::size_t kBeats = 1500;
  const std::size_t size = std::min(prefix_of(beats.size(), events), kBeats + 2 * events);
  const std::vector<double>& ends = beats.ends;
  double sum = 0, all = 0;
  for (std::size_t i = 0; i + 2 * events < size; ++i, ++all) {
    const double one = ends[i + events] - ends[i];
    const double two = ends[i + 2 * events] - ends[i + events];
    sum += one > 0 && two > 0 ? std::min(kMost, std::abs(std::log(two / one))) : kMost;
  }
  return all > 0 ? sum / all : kMost;
}

/// Lengths of many events are regular whatever their number; those of a step are more so than
/// those of one event more or less.
bool is_peak(const Series& beats, std::size_t events) {
  constexpr double kCalmer = 0.5;
  const double own = unrest(beats, events);
  return own < kCalmer * unrest(beats, events + 1) &&
         (events == 1 || own < kCalmer * unrest(beats, events - 1));
}

/// Many events in a row may be nearly regular by their number alone. A number up to twice as large
/// of which the lengths are far more alike is that of the step.
std::size_t calmest(const Series& beats, std::size_t events, std::size_t most) {
  constexpr double kCalmer = 0.5, kEnough = 0.01;
  const double before = unrest(beats, events);
  if (before < kEnough) return events;
  std::size_t best = events;
  double least = kCalmer * before;
  for (std::size_t other = events + 1; other <= std::min(most, 2 * events + 1); ++other)
    if (const double own = unrest(beats, other); own < least) {
      least = own;
      best = other;
    }
  return best;
}

/// How much of the scatter of `values` the residue of their index modulo `turn` explains, against
/// what is left: an F statistic.
double explained(const std::vector<double>& values, std::size_t turn) {
  const double all = mean(values);
  double between = 0, within = 0;
  for (std::size_t rest = 0; rest < turn; ++rest) {
    std::vector<double> own;
    for (std::size_t i = rest; i < values.size(); i += turn) own.push_back(values[i]);
    const double middle = mean(own);
    between += static_cast<double>(own.size()) * (middle - all) * (middle - all);
    for (const double value : own) within += (value - middle) * (value - middle);
  }
  const auto free_between = static_cast<double>(turn - 1);
  const auto free_within = static_cast<double>(values.size() - turn);
  if (free_within <= 0) return 0;
  return between / free_between / std::max(within / free_within, 1e-12);
}

/// Micro-batches are as regular as steps, but every so many of them one is longer: by the optimizer
/// and by loading. Returns the events of the whole step.
std::size_t whole_step(const std::vector<Beat>& beats, std::size_t events) {
  constexpr std::size_t kTurnMax = 16;
  constexpr double kClear = 25;
  std::vector<double> lengths;
  for (std::size_t i = events; i < beats.size(); i += events)
    lengths.push_back(static_cast<double>(beats[i].end - beats[i - events].end));
  const double middle = median(lengths);
  std::size_t best = 1;
  double most = kClear;
  for (double& length : lengths) length = std::clamp(length, middle * 0.8, middle * 1.25);
  for (std::size_t turn = 2; turn <= kTurnMax && turn * 4 <= lengths.size(); ++turn)
    if (const double clear = explained(lengths, turn); clear > most * 1.05) {
      most = clear;
      best = turn;
    }
  return events * best;
}

/// Median idle time before each event of the step, by its index modulo `events`.
std::vector<TimeNs> gaps_by_phase(const std::vector<Beat>& beats, std::size_t events) {
  std::vector<std::vector<TimeNs>> all(events);
  const std::size_t size = prefix_of(beats.size(), events);
  for (std::size_t i = 1; i < size; ++i) all[i % events].push_back(gap_before(beats, i));
  std::vector<TimeNs> gaps;
  gaps.reserve(events);
  for (auto& one : all) gaps.push_back(one.empty() ? 0 : median(one));
  return gaps;
}

/// Where steps begin if no gap is far longer than the others: at the longest gap that no other
/// resembles. Blocks of a model repeat their gaps, the pause between two steps does not.
std::size_t lone_gap(const std::vector<TimeNs>& gaps) {
  constexpr double kResembles = 0.04, kShare = 0.1;
  const TimeNs longest = *std::ranges::max_element(gaps);
  std::size_t best = gaps.size();
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (static_cast<double>(gaps[i]) < kShare * static_cast<double>(longest)) continue;
    const bool is_lone = std::ranges::none_of(gaps, [&](const TimeNs& other) {
      return &other != &gaps[i] && std::abs(static_cast<double>(other - gaps[i])) <
                                       kResembles * static_cast<double>(gaps[i]);
    });
    if (is_lone && (best == gaps.size() || gaps[i] > gaps[best])) best = i;
  }
  if (best < gaps.size()) return best;
  return static_cast<std::size_t>(std::ranges::max_element(gaps) - gaps.begin());
}

/// Where steps begin by sizes: sharded jobs gather block after block forwards, and in between they
/// scatter on the way back. The longest run of one size begins with the step, or behind one event
/// that is larger (the block with the embedding), as few others are. None where no run is far
/// longer than the others.
std::optional<std::size_t> begin_of_run(const std::vector<Beat>& beats, std::size_t events) {
  constexpr double kAlike = 0.1, kLongest = 0.25, kOther = 0.75;
  constexpr double kSeldom = 0.17;
  constexpr std::size_t kEventsMin = 8;
  const std::size_t size = prefix_of(beats.size(), events);
  if (events < kEventsMin) return std::nullopt;
  std::vector<std::vector<std::uint64_t>> all(events);
  for (std::size_t i = 1; i < size; ++i) all[i % events].push_back(beats[i].bytes);
  std::vector<double> sizes;
  sizes.reserve(all.size());
  for (auto& one : all) sizes.push_back(static_cast<double>(median(std::move(one))));
  const auto continues = [&](std::size_t at) {  // the event is as large as the one before
    const double own = sizes[at % events], before = sizes[(at + events - 1) % events];
    return std::abs(own - before) < kAlike * std::max(own, before);
  };
  std::size_t first = 0;
  while (first < events && continues(first)) ++first;
  if (first == events) return std::nullopt;  // all are alike
  std::size_t longest = 0, second = 0, begin = 0;
  for (std::size_t at = first; at < first + events;) {
    std::size_t end = at + 1;
    while (end < first + events && continues(end)) ++end;
    if (end - at > longest) {
      second = std::exchange(longest, end - at);
      begin = at;
    } else {
      second = std::max(second, end - at);
    }
    at = end;
  }
  if (static_cast<double>(longest) < kLongest * static_cast<double>(events) ||
      static_cast<double>(second) > kOther * static_cast<double>(longest))
    return std::nullopt;
  const std::size_t best = begin % events, before = (begin + events - 1) % events;
  const auto count = std::ranges::count_if(sizes, [&](double one) {
    return std::abs(one - sizes[before]) < kAlike * std::max(one, sizes[before]);
  });
  const bool is_first = sizes[before] > sizes[best] &&
                        static_cast<double>(count) < kSeldom * static_cast<double>(events);
  return is_first ? before : best;
}

/// Where a step of several micro-batches begins: micro-batches are alike, but before the first one
/// of a step there is the optimizer, too.
std::size_t first_batch(const std::vector<TimeNs>& gaps, std::size_t batch) {
  std::size_t best = 0;
  TimeNs most = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    TimeNs other = 0;
    for (std::size_t k = (i + batch) % gaps.size(); k != i; k = (k + batch) % gaps.size())
      other = std::max(other, gaps[k]);
    if (gaps[i] - other <= most) continue;
    most = gaps[i] - other;
    best = i;
  }
  return best;
}

/// Events of a micro-batch: the longest part of a step that its gaps repeat nearly everywhere.
std::size_t batch_of(const std::vector<TimeNs>& gaps) {
  constexpr std::size_t kBatchesMax = 8;
  constexpr double kAlike = 0.1, kMost = 0.85;
  const double slack = kAlike * static_cast<double>(*std::ranges::max_element(gaps));
  for (std::size_t batches = 2; batches <= kBatchesMax; ++batches) {
    if (gaps.size() % batches != 0 || gaps.size() / batches < 3) continue;
    const std::size_t batch = gaps.size() / batches;
    std::size_t alike = 0;
    for (std::size_t i = 0; i < gaps.size(); ++i)
      alike += std::abs(static_cast<double>(gaps[i] - gaps[(i + batch) % gaps.size()])) < slack;
    if (static_cast<double>(alike) >= kMost * static_cast<double>(gaps.size())) return batch;
  }
  return gaps.size();
}

StepRule rule_of(const std::vector<Beat>& beats, std::size_t events) {
  constexpr double kFar = 2;
  StepRule rule;
  rule.events = events;
  std::vector<TimeNs> lengths;
  const std::size_t size = prefix_of(beats.size(), events);
  for (std::size_t i = events; i < size; ++i)
    lengths.push_back(beats[i].end - beats[i - events].end);
  rule.period = median(lengths);
  std::vector<TimeNs> gaps = gaps_by_phase(beats, events);
  std::size_t begin = static_cast<std::size_t>(std::ranges::max_element(gaps) - gaps.begin());
  std::vector<TimeNs> sorted = gaps;
  std::ranges::sort(sorted, std::greater<>());
  rule.is_bursty = events == 1 || static_cast<double>(sorted[0]) >
                                      kFar * static_cast<double>(std::max<TimeNs>(sorted[1], 1));
  if (!rule.is_bursty) {
    const std::size_t batch = batch_of(gaps);
    begin = batch < events ? first_batch(gaps, batch)
                           : begin_of_run(beats, events).value_or(lone_gap(gaps));
  }
  rule.first = begin;
  std::ranges::rotate(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(begin));
  rule.gaps = std::move(gaps);
  return rule;
}

/// A step by its longest pause: where gaps fall into short and long ones, and as many events lie
/// between two long ones nearly each time.
struct Break {
  std::size_t events = 0;
  double modal = 0;    ///< share of steps with that many events
  double regular = 0;  ///< share of steps as long as the one before
  double score = 0;
  TimeNs least = 0;  ///< the shortest gap that ends a step
};

Break judge_break(const std::vector<Beat>& beats, std::size_t size, TimeNs least, bool is_vague) {
  constexpr double kAlike = 0.1, kOften = 0.15;
  Break found;
  found.least = least;
  std::map<std::size_t, std::size_t> counts;
  std::vector<double> lengths;
  std::size_t begin = 0;
  for (std::size_t i = 1; i < size; ++i) {
    if (gap_before(beats, i) < least) continue;
    if (begin > 0) {  // the first one may be torn
      ++counts[i - begin];
      lengths.push_back(static_cast<double>(beats[i - 1].end - beats[begin - 1].end));
    }
    begin = i;
  }
  if (lengths.size() < 5) return found;
  auto most = std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  // Lost events make counts smaller, never larger: the largest frequent one is that of a whole
  // step.
  for (auto at = counts.begin(); is_vague && at != counts.end(); ++at)
    if (at->first > most->first &&
        static_cast<double>(at->second) >= kOften * static_cast<double>(lengths.size()))
      most = at;
  std::size_t larger = 0;
  for (const auto& [count, number] : counts) larger += count > most->first ? number : 0;
  // Longer steps than the usual ones would have to have events that were made up.
  constexpr std::size_t kOneIn = 40;
  if (is_vague && larger * kOneIn > lengths.size()) return found;
  found.events = most->first;
  found.modal = static_cast<double>(most->second) / static_cast<double>(lengths.size());
  std::size_t alike = 0;
  for (std::size_t i = 1; i < lengths.size(); ++i)
    alike += std::abs(std::log(lengths[i] / lengths[i - 1])) < kAlike;
  found.regular = static_cast<double>(alike) / static_cast<double>(lengths.size() - 1);
  if (is_vague) {  // blocks of two lengths in turn are no steps of which something is missing
    const double middle = median(lengths);
    const auto near = std::ranges::count_if(
        lengths, [&](double length) { return std::abs(std::log(length / middle)) < kAlike; });
    found.regular =
        std::min(found.regular, static_cast<double>(near) / static_cast<double>(lengths.size()));
  }
  return found;
}

Break natural_break(const std::vector<Beat>& beats, std::size_t size, bool is_vague) {
  constexpr std::size_t kStepsMin = 5;
  constexpr double kJump = 0.7, kFloor = 1e5;
  std::vector<double> logs;
  for (std::size_t i = 1; i < size; ++i)
    logs.push_back(std::log(static_cast<double>(gap_before(beats, i)) + kFloor));
  std::ranges::sort(logs, std::greater<>());
  Break best;
  for (std::size_t above = kStepsMin; above < logs.size(); ++above) {
    const double jump = logs[above - 1] - logs[above];
    if (jump < kJump) continue;
    const double middle = (logs[above - 1] + logs[above]) / 2;
    Break one = judge_break(beats, size, static_cast<TimeNs>(std::exp(middle) - kFloor), is_vague);
    one.score = std::min(jump, 3.0) * one.modal * one.modal * one.regular * one.regular;
    if (one.score > best.score) best = one;
  }
  return best;
}

/// The rule of steps that end at gaps of at least `found.least`.
StepRule rule_of(const std::vector<Beat>& beats, const Break& found) {
  StepRule rule;
  rule.events = found.events;
  rule.is_bursty = true;
  std::vector<std::vector<TimeNs>> gaps(found.events);
  std::vector<TimeNs> lengths;
  std::size_t begin = 0;
  bool is_first = true;
  for (std::size_t i = 1; i < beats.size(); ++i) {
    if (gap_before(beats, i) < found.least) continue;
    if (is_first) rule.first = i % found.events;
    is_first = false;
    if (begin > 0 && i - begin == found.events) {
      lengths.push_back(beats[i - 1].end - beats[begin - 1].end);
      for (std::size_t k = 0; k < found.events; ++k)
        gaps[k].push_back(gap_before(beats, begin + k));
    }
    begin = i;
  }
  rule.period = median(lengths);
  for (auto& one : gaps) rule.gaps.push_back(median(std::move(one)));
  return rule;
}

}  // namespace

double StepRule::spread() const {
  if (period <= 0 || gaps.empty()) return 1;
  return 1 - static_cast<double>(*std::ranges::max_element(gaps)) / static_cast<double>(period);
}

std::optional<StepRule> learn_steps(const std::vector<Beat>& beats, const StepLearning& how) {
  constexpr double kLengths = 0.06, kRegular = 0.9, kSizes = 0.85;
  constexpr double kModal = 0.8, kModalLossy = 0.15, kSizesTell = 0.4;
  constexpr double kBreakRegular = 0.7, kBreakRegularVague = 0.9;
  constexpr std::size_t kVagueMin = 4, kPrefixMin = 150, kPrefixMax = 1200;
  const std::size_t most = std::min(kEventsMax, beats.size() / (how.steps_min + 1));
  const bool sizes_tell = how.size_tolerance < kSizesTell;
  const Series series(beats);
  const std::vector<double> repeats =
      sizes_tell ? repetitions(series, most, how.size_tolerance) : std::vector<double>(most + 1);
  const double best = *std::ranges::max_element(repeats);
  const auto sizes_repeat = [&](std::size_t events) {
    return !sizes_tell || (events <= most && 1 - repeats[events] <= missing_max(best));
  };
  const auto told = [&](StepRule rule) {
    rule.is_vague = how.vague;
    return rule;
  };
  // The shortest prefix that will do, so that a fault later on does not blur it.
  for (std::size_t prefix = kPrefixMin; prefix <= kPrefixMax; prefix *= 2) {
    const Break pause = natural_break(beats, std::min(prefix, beats.size()), how.vague);
    const bool is_break = pause.regular >= (how.vague ? kBreakRegularVague : kBreakRegular) &&
                          pause.events > 1 && sizes_repeat(pause.events);
    if (is_break && pause.modal >= (how.vague ? kModalLossy : kModal))
      return told(rule_of(beats, pause));
  }
  // Where events may be missing, only sizes that repeat make a count certain.
  if (how.vague && !sizes_tell) return std::nullopt;
  for (std::size_t events = how.vague ? kVagueMin : 1; events <= most; ++events) {
    if ((sizes_tell && repeats[events] < kSizes) || !sizes_repeat(events)) continue;
    if (regularity(series, events, kLengths) < kRegular) continue;
    if (how.vague && !is_peak(series, events)) continue;
    return told(rule_of(beats, whole_step(beats, calmest(series, events, most))));
  }
  return std::nullopt;
}

namespace {

/// Of a gap, above what is noise.
float log_of(TimeNs gap) {
  constexpr float kFloor = 1e5;
  return std::log(static_cast<float>(gap) + kFloor);
}

}  // namespace

StepCounter::StepCounter(StepRule rule)
    : rule_(std::move(rule)), count_((rule_.events - rule_.first) % rule_.events) {
  if (rule_.is_bursty) {  // gaps mark the ends: of those only the first is looked at
    rule_.gaps.resize(std::min<std::size_t>(1, rule_.gaps.size()));
    rule_.gaps.shrink_to_fit();
    return;
  }
  usual_.reserve(rule_.gaps.size());
  for (const TimeNs gap : rule_.gaps) usual_.push_back(log_of(gap));
}

bool StepCounter::is_step_over(TimeNs gap) const {
  constexpr double kGap = 0.5, kLength = 0.6, kSlack = 0.2;
  if (!rule_.is_bursty || static_cast<double>(gap) < kGap * static_cast<double>(rule_.gaps[0]))
    return false;
  const double missing = std::abs(static_cast<double>(rule_.events) - static_cast<double>(count_));
  if (missing <= std::max(1.0, kSlack * static_cast<double>(rule_.events))) return true;
  if (!rule_.is_vague) return false;  // a pause within the step
  return last_boundary_ == 0 || static_cast<double>(last_end_ - last_boundary_) >
                                    kLength * static_cast<double>(rule_.period);
}

std::optional<Boundary> StepCounter::add(const Beat& beat) {
  constexpr double kExtra = 0.3;
  const TimeNs gap = last_end_ == 0 ? 0 : std::max<TimeNs>(0, beat.start - last_end_);
  std::optional<Boundary> found;
  const bool is_extra = count_ == 0 && last_boundary_ != 0 && rule_.is_bursty &&
                        static_cast<double>(gap) < kExtra * static_cast<double>(rule_.gaps[0]);
  if (count_ > 0 && is_step_over(gap)) {
    found = Boundary{last_end_, count_, count_ == rule_.events};
    last_boundary_ = last_end_;
    count_ = 0;
    recent_.clear();
  }
  last_end_ = std::max(last_end_, beat.end);
  if (is_extra) return found;  // a late twin of the last event
  ++count_;
  if (!rule_.is_bursty) recent_.push_back({gap, last_end_});
  if (count_ < rule_.events) return found;
  if (const auto earlier = realign(); earlier || count_ < rule_.events) return earlier;
  // A step of one event can end twice in one call only where the rule has one event.
  found = Boundary{last_end_, count_, true};
  last_boundary_ = last_end_;
  count_ = 0;
  recent_.clear();
  return found;
}

/// Where no gap marks the end, a lost or doubled event would shift all further steps: the later
/// gaps of the step are compared with the usual ones some places earlier and later.
std::optional<Boundary> StepCounter::realign() {
  constexpr std::ptrdiff_t kShiftMax = 3;
  constexpr float kClear = 0.5;
  const auto events = static_cast<std::ptrdiff_t>(rule_.events);
  if (rule_.is_bursty || events < 4 * kShiftMax || std::ssize(recent_) != events)
    return std::nullopt;
  const std::ptrdiff_t half = events / 2;
  seen_.clear();
  for (std::ptrdiff_t i = half; i < events; ++i)
    seen_.push_back(log_of(recent_[static_cast<std::size_t>(i)].gap));
  const auto cost = [&](std::ptrdiff_t lost) {
    constexpr float kWorst = 2;
    float sum = 0;
    for (std::ptrdiff_t i = half; i < events; ++i) {
      const float usual = usual_[static_cast<std::size_t>((i + lost + events) % events)];
      sum += std::min(kWorst, std::abs(seen_[static_cast<std::size_t>(i - half)] - usual));
    }
    return sum;
  };
  std::ptrdiff_t best = 0;
  for (std::ptrdiff_t lost = -kShiftMax; lost <= kShiftMax; ++lost)
    if (cost(lost) < kClear * cost(best)) best = lost;
  if (best == 0) return std::nullopt;
  if (best < 0) {  // doubled events: the step goes on
    count_ = static_cast<std::size_t>(events + best);
    recent_.erase(recent_.begin(), recent_.begin() - best);
    return std::nullopt;
  }
  const auto last = static_cast<std::size_t>(events - best - 1);
  const Boundary found{recent_[last].end, last + 1, false};
  last_boundary_ = found.end;
  count_ = static_cast<std::size_t>(best);
  recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  return found;
}

}  // namespace l4::flows
