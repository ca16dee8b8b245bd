#include "agent/segment/iteration_learner.h"

#include <algorithm>
#include <limits>

#include "agent/decode/progress_bar.h"
#include "agent/segment/template_traits.h"
#include "common/base/ascii.h"

namespace l4::segment {
namespace {

/// A bar's drawing gives it many templates; an id made of its total and kind unites them.
LocalTemplateId id_of_bar(std::int64_t total, BarKind kind) {
  constexpr std::uint32_t kBars = 1U << 31;
  return LocalTemplateId{kBars | (static_cast<std::uint32_t>(total) << 2U & (kBars - 1)) |
                         static_cast<std::uint32_t>(kind)};
}

Standing standing_of(const Counter& counter, const Company& company, bool epoch_beside) {
  const bool in_epoch = counter.in_epoch || (epoch_beside && counter.sign != Sign::none);
  const bool clean = company.measured && !company.evaluation && !company.preparation;
  if (counter.leads && !in_epoch && clean) return Standing::fair;
  if (counter.sign == Sign::none && !in_epoch)
    return company.preparation ? Standing::none : Standing::bare;
  const bool named = counter.sign == Sign::word;
  if (company.preparation && !named && !in_epoch) return Standing::none;
  if (company.evaluation) return Standing::weak;
  const bool iteration = counter.unit == Unit::iteration || in_epoch;
  if (iteration && company.measured && (named || in_epoch || counter.sign == Sign::bar))
    return Standing::strong;
  if ((iteration && named) || company.measured || (counter.sign == Sign::bar && company.training))
    return Standing::fair;
  return Standing::weak;
}

std::uint32_t line_of(std::uint64_t line) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(line, std::numeric_limits<std::uint32_t>::max()));
}

/// Steps by which a template that continues the marker may be ahead of it.
constexpr std::int64_t kAheadMax = 4;

/// True if `far` is a small multiple of `near`: other lines may print some of the numbers, and a
/// bar skips numbers when time is short.
bool leaps(std::int64_t far, std::int64_t near) {
  constexpr std::int64_t kLeapMax = 8;
  return near > 0 && far % near == 0 && far / near <= kLeapMax;
}

}  // namespace

bool IterationLearner::Watched::hopeless() const {
  constexpr std::uint32_t kSeenEnough = 64, kSeenWithoutCounter = 16;
  constexpr std::uint16_t kStreakLeast = 2;
  return (seen >= kSeenEnough && best_streak < kStreakLeast) ||
         (seen >= kSeenWithoutCounter && !counts);
}

/// Index of the template in watched_, which is added if there is room. Without room, every
/// kRefusals-th new template replaces another, so that each template is watched long enough to come
/// again. Bars and lines of a promising form are few, and always get room: a program may print its
/// settings in hundreds of lines before them.
std::optional<std::size_t> IterationLearner::watch(LocalTemplateId id, bool urgent) {
  constexpr std::uint16_t kCounting = 2;
  constexpr std::uint32_t kRefusals = 16;
  if (const std::uint8_t* place = places_.find(key_of(id)); place != nullptr) return *place;
  if (watched_.size() < kTemplatesMax) {
    places_[key_of(id)] = static_cast<std::uint8_t>(watched_.size());
    watched_.push_back({.id = id});
    return watched_.size() - 1;
  }
  if (++refused_ % kRefusals != 0 && !urgent) return std::nullopt;
  const auto leads = [&] { return leader_ && leader_->watched == oldest_; };
  for (std::size_t tries = 0; tries < kTemplatesMax; ++tries) {
    oldest_ = (oldest_ + 1) % kTemplatesMax;
    if (watched_[oldest_].best_streak < kCounting && !leads()) break;
  }
  if (leads()) oldest_ = (oldest_ + 1) % kTemplatesMax;
  places_.erase(key_of(watched_[oldest_].id));
  places_[key_of(id)] = static_cast<std::uint8_t>(oldest_);
  watched_[oldest_] = {.id = id};
  return oldest_;
}

void IterationLearner::count(Watched& watched, std::size_t index, const Counters& counters,
                             const Moment& now) {
  Field& field = watched.fields[index];
  const Counter& counter = counters.items[index];
  const bool seen = watched.seen > 0;
  const std::int64_t step = counter.value - field.last;
  ++field.lines;
  if (seen && step == 0 && counter.sign != Sign::none) return;  // printed by several ranks
  if (field.changes < std::numeric_limits<std::uint16_t>::max()) ++field.changes;
  field.standing = standing_of(counter, watched.company, counters.epoch.has_value());
  const bool same = counter.total == field.total && counter.unit == field.unit;
  const bool epoch_grew = counters.epoch && watched.epoch && *counters.epoch > *watched.epoch;
  const bool free = field.standing >= Standing::fair && watched.company.measured;
  const bool steady =
      step == field.step || free || counter.sign == Sign::bar ||
      (counter.sign == Sign::word && (leaps(step, field.step) || leaps(field.step, step)));
  if (seen && same && step < 0 && epoch_grew) {
    ++field.streak;  // the epoch goes on, so its inner counter does
  } else if (seen && same && step > 0 && (field.streak == 0 || steady)) {
    field.step = field.streak == 0 ? step : std::min(field.step, step);
    if (field.streak < std::numeric_limits<std::uint16_t>::max()) ++field.streak;
  } else {
    if (seen && same && step < 0 && field.falls < std::numeric_limits<std::uint16_t>::max())
      ++field.falls;
    field.streak = 0;
    field.run_line = line_of(now.line);
    field.run_time = now.time;
  }
  if (!seen || !same) {
    field.first_line = line_of(now.line);
    field.first_time = now.time;
  }
  field.last_line = line_of(now.line);
  field.last_time = now.time;
  field.last = counter.value;
  field.total = counter.total;
  field.unit = counter.unit;
  field.sign = counter.sign;
  field.in_epoch = counter.in_epoch;
  field.leads = counter.leads;
  field.name = counter.name;
}

bool IterationLearner::convinces(const Field& field, const Watched& watched,
                                 const Counters& counters, const Moment& now, bool trusted) const {
  constexpr int kNamed = 4, kMeasured = 2, kOfTotal = 6, kEpoch = 3, kBare = 12;
  // What falls as often as it grows, such as the length of a queue, counts nothing.
  constexpr std::uint32_t kFallsFew = 3, kFallsShare = 5;
  constexpr std::int64_t kStepMax = 1000;
  constexpr Millis kPaceMin{20};
  if (field.falls >= kFallsFew && field.falls * kFallsShare > field.changes) return false;
  if (field.lines * 2 < watched.seen) return false;  // mostly it has a fraction: 691.84, 702.00
  // Iterations are printed one by one, or at round numbers; what leaps must grow for longer.
  const bool leaps_far = field.streak > 0 && field.step > kStepMax && field.last % field.step != 0;
  if (leaps_far && field.sign != Sign::bar && field.streak < kOfTotal) return false;
  switch (field.standing) {
    case Standing::none:
      return false;
    case Standing::strong:
      // "(0/4) Epoch 2, batch 1150": a total alone may be that of ranks.
      if (counters.epoch && field.sign == Sign::total && !field.in_epoch) return field.streak >= 1;
      return field.streak >= (counters.epoch || field.total > 0 ? 0 : 1);
    case Standing::fair:
      if (field.sign == Sign::bar) return true;
      if (field.unit == Unit::iteration && field.total > 0) return field.streak >= 1;
      if (field.leads) return field.streak >= kBare;
      return field.streak >= (field.unit == Unit::iteration ? kNamed : kMeasured);
    case Standing::weak:
      if (field.sign == Sign::bar) return trusted || field.streak >= kMeasured;
      if (field.unit == Unit::epoch) return field.streak >= kEpoch;
      return field.streak >= (field.sign == Sign::word ? kNamed : kOfTotal);
    case Standing::bare:
      if (field.streak < kBare) return false;
      if (!now.time || !field.run_time)  // "602 | loss 2.8564"
        return watched.company.measured && !watched.company.evaluation;
      return *now.time - *field.run_time >= kPaceMin * field.streak;
  }
  return false;
}

/// True if the counter went on after the marker had ended, and has lasted longer than it.
bool IterationLearner::outlasts_leader(const Field& field) const {
  constexpr std::int64_t kUnfinished = 4;  // an evaluation pauses the marker
  const Field& marker = leader();
  if (field.paused || marker.last_line >= field.run_line || field.falls > marker.falls)
    return false;
  std::int64_t needed = marker.total > 0 && marker.last >= marker.total ? 1 : kUnfinished;
  if (field.standing < marker.standing) needed *= kUnfinished;
  if (marker.first_time && marker.last_time && field.run_time && field.last_time)
    return *field.last_time - *field.run_time > needed * (*marker.last_time - *marker.first_time);
  if (marker.clock && field.clock) return *field.clock > needed * *marker.clock;
  const auto covered = [](const Field& one, std::uint32_t from) {
    const std::int64_t lines = one.last_line - from;
    return one.sign == Sign::bar ? std::max(lines, one.last) : lines;
  };
  return covered(field, field.run_line) > needed * covered(marker, marker.first_line);
}

/// The counter led until another one outlasted it, and goes on behind `before`, its last number.
bool IterationLearner::is_former(const Place& place, std::int64_t before) const {
  if (former_ != place) return false;
  const Field& field = watched_[place.watched].fields[place.field];
  return field.last > before &&
         field.last - before <= kAheadMax * std::max<std::int64_t>(field.step, 1);
}

bool IterationLearner::is_better(const Field& field) const {
  const Field& marker = leader();
  if (field.standing > marker.standing) return true;
  if (field.standing == marker.standing) {
    const bool alike = field.unit == marker.unit && field.total == marker.total;
    if (alike && field.step > 0 && marker.step > 0 && field.step < marker.step) return true;
    const bool outer = marker.unit == Unit::epoch && field.unit == Unit::iteration;
    if (outer && field.falls <= marker.falls) return true;
    // "186: 2.1 avg loss, .., 11904 images": samples count what the number before them counts.
    if (marker.unit == Unit::sample && field.leads && field.falls <= marker.falls) return true;
  }
  return false;
}

/// Several templates may print the marker's number, for example where its line has further fields
/// at times ("eta: 1 day, 2:00" and "eta: 23:00"), or where blanks fill short numbers up
/// ("[ 9900/14658]", "[10000/14658]"). Behind the end of an epoch it begins again. A template that
/// counts for itself, such as the steps of an evaluation, passes the marker's number by chance.
bool IterationLearner::continues_leader(const Field& field, const Counter& counter,
                                        const Counters& counters) const {
  constexpr std::uint16_t kStraysFew = 1;
  if (field.strays > kStraysFew) return false;
  const Field& marker = leader();
  const auto& epoch = watched_[leader_->watched].epoch;
  const bool next_epoch = epoch && counters.epoch && *counters.epoch == *epoch + 1;
  const std::int64_t ahead = next_epoch ? counter.value + std::max<std::int64_t>(marker.step, 1)
                                        : counter.value - marker.last;
  const bool leads = counter.leads && marker.leads;
  const bool alike =
      counter.in_epoch == marker.in_epoch && (counter.in_epoch || counter.total > 0 || leads);
  return (counter.name != 0 || alike) && counter.name == marker.name &&
         counter.unit == marker.unit && counter.total == marker.total &&
         field.standing >= marker.standing && ahead > 0 &&
         ahead <= kAheadMax * std::max<std::int64_t>(marker.step, 1);
}

/// A bar at its former number: nothing was completed since. A program that gives up draws it again,
/// at 0 with a clock that has run; a bar that begins shows neither.
bool IterationLearner::is_redrawn(const Watched& watched, const Counters& counters, bool running) {
  if (!counters.bar || watched.seen == 0) return false;
  const Counter& counter = counters.items[*counters.bar];
  const Field& field = watched.fields[*counters.bar];
  const bool complete = counter.total > 0 && counter.value >= counter.total;
  return (counter.value > 0 || running) && !complete && field.sign == Sign::bar &&
         field.last == counter.value && field.total == counter.total;
}

void IterationLearner::lead(const Place& place, const Counters& counters) {
  const Watched& watched = watched_[place.watched];
  const Counter& counter = counters.items[place.field];
  leader_ = place;
  ++changes_;
  grounds_ = static_cast<std::uint8_t>(
      (counter.sign == Sign::word ? wire::kGroundWord : 0) |
      (counter.total > 0 ? wire::kGroundTotal : 0) |
      (counter.sign == Sign::bar ? wire::kGroundBar : 0) |
      (counters.epoch || counter.in_epoch ? wire::kGroundEpoch : 0) |
      (watched.company.measured ? wire::kGroundMeasured : 0) |
      (watched.company.evaluation ? wire::kGroundEvaluation : 0) |
      (counter.unit == Unit::epoch || counter.unit == Unit::sample ? wire::kGroundOtherUnit : 0));
}

/// The counter is where the marker has long been: it counts for itself.
bool IterationLearner::strays(const Field& field) const {
  const std::int64_t near = kAheadMax * leader().step;
  return near > 0 && field.last < leader().last - near;
}

void IterationLearner::forget_strays() {
  for (Watched& watched : watched_)
    for (Field& field : watched.fields) field.strays = 0;
}

std::optional<IterationLearner::Learned> IterationLearner::contest(std::size_t place,
                                                                   const Counters& counters,
                                                                   const Seen& seen) {
  constexpr std::uint16_t kStraysMost = 1000;
  Watched& watched = watched_[place];
  std::optional<std::size_t> marks;
  redrawn_ = is_redrawn(watched, counters, seen.clock.value_or(Millis{0}) > Millis{0});
  for (std::size_t i = 0; i < counters.size; ++i) {
    const Place here{place, i};
    Field& field = watched.fields[i];
    const std::int64_t before = field.last;
    count(watched, i, counters, seen.now);
    if (counters.bar == i) field.clock = seen.clock;
    watched.best_streak = std::max(watched.best_streak, field.streak);
    watched.counts = true;
    if (leader_ == here) {
      marks = i;
      if (field.last < before) forget_strays();
    } else if (leader_ && !marks && continues_leader(field, counters.items[i], counters)) {
      marks = i;
      if (counters.epoch) watched_[leader_->watched].epoch = counters.epoch;
      leader().last = field.last;
      leader().last_line = field.last_line;
      leader().last_time = field.last_time;
    } else if (is_former(here, before)) {
      leader().paused = true;
      lead(here, counters);
      marks = i;
    } else if (convinces(field, watched, counters, seen.now, seen.trusted) &&
               (!leader_ || is_better(field) || outlasts_leader(field))) {
      former_ = leader_ && !is_better(field) ? leader_ : std::nullopt;
      lead(here, counters);
      marks = i;
    } else if (leader_ && watched.seen > 0 && field.last > before && strays(field)) {
      field.strays = std::min<std::uint16_t>(field.strays + 1, kStraysMost);
    }
  }
  if (counters.epoch) watched.epoch = counters.epoch;
  ++watched.seen;
  if (!marks || (redrawn_ && *marks == *counters.bar)) return std::nullopt;
  const Counter& counter = counters.items[*marks];
  const auto total = counter.total > 0 ? std::optional(counter.total) : std::nullopt;
  return Learned{{counter.value, total},
                 counters.epoch,
                 counters.epoch_total,
                 counter.sign == Sign::bar,
                 counter.unit == Unit::epoch};
}

bool IterationLearner::is_promising(std::string_view line) {
  Counters counters;
  find_counters(line, counters);
  const Company company = company_of(line);
  const auto end = counters.items.begin() + static_cast<std::ptrdiff_t>(counters.size);
  return std::any_of(counters.items.begin(), end, [&](const Counter& counter) {
    return standing_of(counter, company, counters.epoch.has_value()) >= Standing::strong;
  });
}

/// What the first line of a template speaks of holds for all of its lines.
void IterationLearner::note_company(Watched& watched, std::string_view line,
                                    std::optional<BarKind> bar) {
  if (watched.seen > 0) return;
  watched.company = company_of(line);
  if (!bar) return;
  watched.company.preparation = bar == BarKind::preparation;
  watched.company.evaluation = bar == BarKind::evaluation;
}

/// In a row of the table, the head above it says which number counts, and that others are measures.
/// Other lines of its template, such as the number of a source line, count nothing.
void IterationLearner::read_row(Watched& watched, std::string_view line, Counters& counters) const {
  const auto counter = table_->counter_of(line);
  if (!counter && !watched.rows) return;
  counters = {};
  if (!counter) return;
  watched.rows = true;
  counters.items[0] = *counter;
  counters.size = 1;
  watched.company = {.measured = true, .training = true};
}

std::optional<IterationLearner::Learned> IterationLearner::observe(LocalTemplateId id,
                                                                   std::string_view message,
                                                                   const Moment& now,
                                                                   Reading reading) {
  const bool drawn = reading.drawn;
  if (!drawn) redrawn_ = false;
  std::optional<std::size_t> place;
  if (!drawn) {
    place = watch(id, reading.promising);
    if (!place || watched_[*place].hopeless()) return std::nullopt;
  }
  Counters counters;
  find_counters(message, counters);
  bool trusted = false;
  if (counters.bar) {
    if (place) watched_[*place].counts = true;  // its lines are counted under the bar's id
    trusted = counters.bar_kind == BarKind::training;
    place = watch(id_of_bar(counters.items[*counters.bar].total, counters.bar_kind), true);
  } else if (drawn) {
    place = watch(id);
  }
  if (!place) return std::nullopt;
  Watched& watched = watched_[*place];
  if (counters.size == 0 && watched.seen == 0)
    if (const auto head = TableHead::read(message)) table_ = head;
  note_company(watched, message, counters.bar ? std::optional(counters.bar_kind) : std::nullopt);
  if (table_ && !counters.bar) read_row(watched, message, counters);
  if (counters.size == 0) {
    ++watched.seen;
    return std::nullopt;
  }
  return contest(*place, counters,
                 {now, trusted, counters.bar ? decode::clock_of_bar(message) : std::nullopt});
}

std::optional<IterationLearner::Learned> IterationLearner::observe_bar(const Progress& bar,
                                                                       std::string_view drawn,
                                                                       const Moment& now,
                                                                       bool in_training) {
  Counters counters;
  find_counters(drawn, counters);
  const BarKind kind = counters.bar ? counters.bar_kind : BarKind::other;
  const auto place = watch(id_of_bar(bar.total.value_or(0), kind), true);
  if (!place) return std::nullopt;
  note_company(watched_[*place], drawn, kind);
  const auto epoch = counters.epoch;
  const std::int64_t epochs = counters.epoch_total;
  counters = {};
  counters.size = 1;
  counters.bar = 0;
  counters.epoch = epoch;
  counters.epoch_total = epochs;
  counters.items[0] = {.value = bar.number,
                       .total = bar.total.value_or(0),
                       .unit = Unit::iteration,
                       .sign = Sign::bar};
  const bool plain = kind == BarKind::training || kind == BarKind::other;
  const bool trusted = kind == BarKind::training || (in_training && plain);
  return contest(*place, counters, {now, trusted, decode::clock_of_bar(drawn)});
}

}  // namespace l4::segment
