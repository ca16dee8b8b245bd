#include "agent/segment/segmenter.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "agent/decode/progress_bar.h"
#include "common/base/check.h"
#include "common/base/earliest.h"
#include "common/parameters/parameters.h"

namespace l4::segment {

std::optional<IterationMark> Segmenter::pack_mark(const decode::Record& record,
                                                  const IterationMarker& marker, ReadHint& hint) {
  const auto progress = read_progress(record.text, marker.number_after, record.outline, hint);
  const bool fraction = !progress && read_number(record.text, marker.number_after);
  if (fraction) forget_numbers();
  if (!progress && !fraction) return std::nullopt;
  constexpr int kPatienceMax = 100'000;
  if (!has_pack_marker_ && learned_ != 0) patience_ = std::min(4 * patience_, kPatienceMax);
  has_pack_marker_ = true;
  strays_ = 0;
  if (fractions_) return std::nullopt;
  IterationMark mark = numbered(*progress, &marker, {.drawn = marker.bar});
  mark.boundary = marker.boundary;
  return mark;
}

/// The next number of the marker. If another marker was taken since the last number, and the number
/// does not continue those of the former, numbers begin anew.
IterationMark Segmenter::numbered(const Progress& progress, const IterationMarker* rule,
                                  MarkerKind kind) {
  const std::uint32_t learned = rule == nullptr ? learner_.changes() : 0;
  if (numbered_before_ && learned != learned_) {
    if (!continues(progress.number)) number_anew();
    if (learned_ != 0) marker_template_.reset();
  }
  learned_ = learned;
  numbered_before_ = has_number_ = true;
  IterationMark mark;
  mark.iteration = epochs_.count(progress.number, progress.total);
  mark.reach = epochs_.reach(progress.number, progress.total, learner_.announced(), kind);
  mark.rule = rule;
  mark.before = epochs_.before();
  mark.numbering = numbering_;
  return mark;
}

/// Numbers with fractions are means or shares: they count no iterations, their lines are signs of
/// progress.
void Segmenter::forget_numbers() {
  if (std::exchange(fractions_, true)) return;
  if (has_number_) number_anew();
  has_number_ = numbered_before_ = false;
}

/// A flood of lines with such numbers counts a slice of time apart, as segments are cut where there
/// is no marker.
bool Segmenter::comes_too_soon(std::optional<TimeMs> time) {
  if (!time || clock_jumps_) return true;
  if (sign_time_ && std::chrono::abs(*time - *sign_time_) < kSlice) return true;
  sign_time_ = time;
  return false;
}

bool Segmenter::continues(std::int64_t number) const {
  constexpr std::int64_t kStridesMax = 4;
  const std::int64_t ahead = number - epochs_.last();
  return ahead >= 0 && ahead <= kStridesMax * std::max<std::int64_t>(stride_, 1);
}

void Segmenter::number_anew() {
  ++numbering_;
  epochs_.restart();
  forget_counted();
}

/// The mark of the counter that was learned. It may also be a bar that the decoder removed, because
/// text was printed on its line. Beside a rule pack's marker only bars are looked at, and they
/// count once the pack's line comes no more.
std::optional<IterationMark> Segmenter::learned_mark(const decode::Record& record,
                                                     LocalTemplateId id, bool promising) {
  const IterationLearner::Moment now{record.lines.front(), record.time};
  bool beside = false;
  std::optional<IterationLearner::Learned> learned;
  if (record.progress && !record.bar.empty()) {
    learned = learner_.observe_bar({*record.progress, record.progress_total}, record.bar, now,
                                   stage_ == Stage::training);
    beside = learned.has_value();
  }
  const std::uint32_t changes = learner_.changes();
  const bool drawn = record.progress && record.bar.empty();
  if (auto of_text = learner_.observe(id, record.text, now, {drawn, promising});
      of_text && (!learned || learner_.changes() != changes)) {
    learned = of_text;
    beside = false;
  }
  if (!learned) return std::nullopt;
  if (has_pack_marker_) {
    if (++strays_ < patience_) return std::nullopt;
    has_pack_marker_ = false;  // its line has not come for as long
  }
  if (learned->epoch) epochs_.enter(*learned->epoch, true, learned->epoch_total);
  IterationMark mark =
      numbered(learned->progress, nullptr, {.drawn = learned->drawn, .epochs = learned->of_epochs});
  mark.beside = beside;
  return mark;
}

/// A line that counts along ("total steps: 12") announces nothing: its number is that of the
/// marker.
void Segmenter::note_announced(std::string_view text) {
  AnnouncedTotals found = find_announced(text);
  constexpr std::int64_t kAheadMin = 2;  // prints of the marker
  if (found.iterations && *found.iterations <= epochs_.last() + kAheadMin * stride_)
    found.iterations.reset();
  learner_.announced().add(found);
}

std::optional<IterationMark> Segmenter::mark_of(const decode::Record& record, LocalTemplateId id,
                                                const TemplateTraits& traits) {
  if (traits.announces) note_announced(record.text);
  const IterationMarker* rule = traits.role.iteration;
  const bool by_pack = rule != nullptr && !rule->bar;
  if (traits.names_epoch)
    if (const auto epoch = find_epoch(record.text))
      epochs_.enter(epoch->number, by_pack, epoch->total);
  if (traits.role.banner != nullptr || is_startup(traits.role.stage)) epochs_.start();
  if (by_pack) {
    auto mark = pack_mark(record, *rule, traits.number_hint);
    if (mark || !fractions_) return mark;
    return counted_mark(traits.role.progress || !comes_too_soon(record.time));
  }
  // Of a line that a pack knows as a sign of progress, it would know the number as well.
  const bool ordinary = !record.folded && traits.level < Level::warning && !traits.role.progress &&
                        traits.role.stage == Stage::unknown &&
                        traits.role.stage_end == Stage::unknown;
  const bool bar = record.progress || rule != nullptr;
  if (bar || (!has_pack_marker_ && ordinary))
    if (const auto mark = learned_mark(record, id, traits.promising)) return mark;
  if (bar && learner_.redrawn()) return std::nullopt;
  return counted_mark(traits.role.progress);
}

/// A sign of progress of a source that prints no number, or none that counts iterations.
std::optional<IterationMark> Segmenter::counted_mark(bool sign) {
  if (has_number_ || !sign) return std::nullopt;
  IterationMark mark{++ticks_, true};
  mark.numbering = numbering_;
  return mark;
}

std::optional<wire::Marker> Segmenter::marker_taken() const {
  if (!marker_template_ || marks_counted_) return std::nullopt;
  wire::Marker marker;
  marker.id = *marker_template_;
  if (marker_rule_ != nullptr) {
    marker.grounds = wire::kGroundPack;
    marker.standing = wire::kStandingOfPack;
    marker.pack = marker_rule_->pack;
  } else {
    marker.grounds = learner_.grounds();
    marker.standing = static_cast<std::uint8_t>(learner_.standing());
  }
  return marker;
}

/// Frameworks print several lines per iteration, and some count other things by the same name. The
/// first template that marks an iteration leads, together with templates of the same rule. A mark
/// of any other template counts only if it is near the leader's iteration; after kPatience
/// contradictions without a mark of the leader, the other template becomes the leader. Learned
/// markers have had their contest already.
bool Segmenter::contradicts(const IterationMark& mark, LocalTemplateId id,
                            const IterationMarker* rule) {
  constexpr int kPatience = 6;
  const std::int64_t ahead = completed_ ? mark.iteration - completed_->value() : 0;
  if (rule == nullptr) return false;
  const bool same_rule = rule == marker_rule_ && ahead >= 0;
  const bool leads = !marker_template_ || *marker_template_ == id || same_rule;
  if (leads || (ahead >= 0 && ahead <= 4 * std::max<std::int64_t>(stride_, 1))) {
    if (leads) contradictions_ = 0;
    return false;
  }
  if (++contradictions_ < kPatience) return true;
  contradictions_ = 0;
  marker_template_ = id;
  marker_rule_ = rule;
  completed_.reset();
  stride_ = 0;
  return false;
}

/// Printed numbers replace the signs of progress that were counted so far.
void Segmenter::forget_counted() {
  marker_template_.reset();
  completed_.reset();
  stride_ = 0;
  marks_ = 0;
}

bool Segmenter::slice_is_full(const decode::Record& record) const {
  if (open_.events.empty()) return false;
  if (record.bytes.to - open_.bytes.from > kSegmentBytesMax) return true;
  if (has_marker_) return false;
  if (clock_jumps_)
    return arrival_ && open_.arrival_begin && *arrival_ - *open_.arrival_begin > kSlice;
  return record.time && open_.begin && *record.time - *open_.begin > kSlice;
}

void Segmenter::note_time(TimeMs time) {
  constexpr int kBlock = 64;          // times
  constexpr int kMany = 8, kFew = 2;  // number of these times that fall
  if (last_time_ && time + kSlice < *last_time_) ++times_back_;
  last_time_ = time;
  if (++times_ < kBlock) return;
  clock_jumps_ = times_back_ >= (clock_jumps_ ? kFew + 1 : kMany);
  times_ = times_back_ = 0;
}

void Segmenter::add(const decode::Record& record, LocalTemplateId id, const TemplateTraits& traits,
                    std::optional<IterationMark> mark, Stage stack_stage, bool silent) {
  note_bar(record, mark);
  if (mark && marks_counted_ && !mark->counted) forget_counted();
  if (mark && !mark->counted && contradicts(*mark, id, mark->rule)) mark.reset();
  if (mark && mark->beside) {
    complete_before(record, *mark);
    mark.reset();
  }
  // A start-up line after the first iteration begins no stage: training also sets up libraries and
  // reads data.
  const Stage stage = stack_stage != Stage::unknown ? stack_stage : traits.role.stage;
  const bool late = completed_ && has_number_ && is_startup(stage);
  if (stack_stage != Stage::unknown && stage_ == Stage::unknown && !late)
    open_.stage = stage_ = stage;  // holds from the segment's begin on
  const bool begins_stage = stage != Stage::unknown && stage != stage_ && !late;
  const bool starts = mark && mark->boundary == wire::Boundary::started &&
                      open_.iteration != Iteration{mark->iteration};
  const bool begins_round = traits.prints_times() && beats_.observe(id);
  if (starts || begins_stage || (begins_round && cuts_rounds()) || slice_is_full(record) ||
      record.clock_returned)
    close(starts ? wire::Boundary::started : wire::Boundary::none);

  if (begins_stage) {
    stage_before_ = stage_;
    stage_ = stage;
  }
  if (mark) {
    if (!marker_template_) {
      marker_template_ = id;
      marker_rule_ = mark->rule;
    }
    enter(*mark, starts);
  }
  if (begins_round) open_.beat = beats_.number();
  if (open_.events.empty()) open_.stage = stage_;
  append(record, id, traits, silent);

  if (traits.role.stage_end != Stage::unknown && traits.role.stage_end == stage_) {
    stage_ = completed_ ? Stage::training : stage_before_;
    open_.stage_after = stage_;
    close(wire::Boundary::none);
  }
  if (!mark || mark->boundary != wire::Boundary::completed) return;
  if (!record.time) add_drawing(record);
  complete(mark->iteration);
}

/// A bar completed its iteration when it was drawn, later than the stamp before it says.
void Segmenter::add_drawing(const decode::Record& record) {
  if (!drawn_at_) return;
  const TimeMs at = record.time ? std::min(*drawn_at_, *record.time) : *drawn_at_;
  if (!open_.begin) open_.begin = at;
  keep_latest(open_.end, at);
}

/// A bar may count the same iterations as the marker, which is printed more rarely.
void Segmenter::note_bar(const decode::Record& record, const std::optional<IterationMark>& mark) {
  beside_.byte = std::max(beside_.byte, record.bytes.to);
  drawn_at_.reset();
  if (record.progress)
    if (const auto clock = decode::clock_of_bar(record.bar.empty() ? record.text : record.bar))
      drawn_at_ = bar_clock_.drawn(record.progress_total.value_or(0), *clock, record.drawn);
  if (record.time) bar_clock_.stamp(*record.time);
  const bool by_bar = mark && record.progress && (mark->beside || record.bar.empty());
  // A bar is drawn again by a program that gives up; what stands behind a bar was printed later.
  if (record.progress && !by_bar && *record.progress != beside_.count) {
    beside_.count = *record.progress;
    beside_.line = record.lines.front() - (record.bar.empty() ? 0 : 1);
    beside_.time = drawn_at_ ? drawn_at_ : last_time_;
  }
  if (!mark || mark->counted || by_bar || beside_.line == 0) return;
  const std::int64_t apart = mark->iteration - mark->before - beside_.count;
  beside_.agreed = apart >= -1 && apart <= 1 ? beside_.agreed + 1 : 0;
}

/// Behind the last number of the marker, the bar that counts along shows how far the source came.
void Segmenter::complete_bar() {
  constexpr int kAgreedMin = 2;
  if (!completed_ || marks_counted_ || beside_.agreed < kAgreedMin) return;
  const std::int64_t iteration = epochs_.before() + beside_.count;
  const std::int64_t ahead = iteration - completed_->value();
  if (ahead <= 0 || ahead > stride_) return;
  open_ = {};
  open_.stage = stage_;
  open_.iteration = Iteration{iteration};
  open_.before = epochs_.before();
  open_.numbering = numbering_;
  open_.lines = {beside_.line, beside_.line};
  open_.bytes = {beside_.byte, beside_.byte};
  open_.begin = open_.end = beside_.time;
  completed_ = Iteration{iteration};
  close(wire::Boundary::completed);
}

/// The open segment belongs to the mark's iteration.
void Segmenter::enter(const IterationMark& mark, bool starts) {
  has_marker_ = true;
  marks_counted_ = mark.counted;
  ++marks_;
  if (starts || is_startup(stage_) || stage_ == Stage::unknown) stage_ = Stage::training;
  open_.iteration = Iteration{mark.iteration};
  open_.counted = mark.counted;
  open_.before = mark.before;
  open_.numbering = mark.numbering;
  open_.reach = mark.reach;
}

void Segmenter::complete(std::int64_t iteration) {
  if (completed_ && iteration > completed_->value()) stride_ = iteration - completed_->value();
  if (!completed_ || iteration > completed_->value())
    rounds_between_ = beats_.number() - std::exchange(beat_of_mark_, beats_.number());
  completed_ = Iteration{iteration};
  open_.stage = Stage::training;
  close(wire::Boundary::completed);
  stage_ = Stage::training;
}

/// A bar completed the iteration, and the record was printed behind it: what came before belongs to
/// the iteration, the record to the next one. When the bar was drawn is not known.
void Segmenter::complete_before(const decode::Record& record, const IterationMark& mark) {
  // A record of several lines comes behind lines that stand behind its first.
  if (!open_.events.empty() && record.lines.front() <= open_.lines.last)
    close(wire::Boundary::none);
  enter(mark, false);
  if (open_.events.empty()) {
    const std::uint64_t line = record.lines.front() - 1;
    open_.lines = {line, line};
    open_.bytes = {record.bytes.from, record.bytes.from};
  }
  add_drawing(record);
  complete(mark.iteration);
}

/// Rounds are finer than the numbers that are printed: none are, or those of checkpoints.
bool Segmenter::cuts_rounds() const {
  constexpr std::uint32_t kFiner = 2;
  return beats_.number() != 0 && (!has_number_ || rounds_between_ >= kFiner);
}

bool Segmenter::is_full(const Share& share, std::size_t size) const {
  return size >= share.free && size >= (open_.bytes.to - open_.bytes.from) / share.bytes_for_one;
}

bool Segmenter::order_is_full() const {
  const std::size_t runs = open_.order.size();
  return runs >= kRunsMax || is_full(runs_, runs);
}

/// `first`: this is the template's first record in the segment.
bool Segmenter::parameters_are_full(bool first) const {
  return tuples_ && is_full(*tuples_, open_.parameters.size() / (first ? 2 : 1));
}

wire::EventCount& Segmenter::event_of(LocalTemplateId id) {
  constexpr std::size_t kLinear = 16;
  const auto size = static_cast<std::uint32_t>(open_.events.size());
  if (size <= kLinear) {
    for (wire::EventCount& event : open_.events)
      if (event.id == id) return event;
  } else {
    if (places_.size() == 0)
      for (std::uint32_t i = 0; i < size; ++i) places_[key_of(open_.events[i].id)] = i;
    if (const std::uint32_t* place = places_.find(key_of(id)); place != nullptr)
      return open_.events[*place];
    places_[key_of(id)] = size;
  }
  return open_.events.emplace_back(id, 0, 0, std::nullopt);
}

void Segmenter::note_where(std::size_t event, const decode::Record& record) {
  if (event == where_.size()) where_.push_back(record.bytes);
  L4_CHECK(event < where_.size(), "event {} of a segment with {} ranges", event, where_.size());
  wire::ByteRange& where = where_[event];
  where = {std::min(where.from, record.bytes.from), std::max(where.to, record.bytes.to)};
  // A traceback with other lines in between ends after records that began later.
  if (open_.lines.first == 0 || record.bytes.from < open_.bytes.from) {
    open_.lines.first = record.lines.front();
    open_.bytes.from = record.bytes.from;
  }
}

void Segmenter::append(const decode::Record& record, LocalTemplateId id,
                       const TemplateTraits& traits, bool silent) {
  constexpr std::size_t kUsualRoom = 4;  // an iteration is a few events
  if (open_.events.empty()) {
    open_.events.reserve(kUsualRoom);
    open_.order.reserve(kUsualRoom);
  }
  wire::EventCount& event = event_of(id);
  if (event.count++ == 0) {
    event.first_line = record.lines.front();
    event.first_time = record.time;
  }
  note_where(static_cast<std::size_t>(&event - open_.events.data()), record);
  open_.lines.last = std::max(open_.lines.last, record.lines.back());
  open_.bytes.to = std::max(open_.bytes.to, record.bytes.to);
  open_.updates += record.updates;
  if (arrival_) {
    if (!open_.arrival_begin) open_.arrival_begin = arrival_;
    open_.arrival_end = arrival_;
  }
  if (record.time) {
    note_time(*record.time);
    open_.clock_returned = open_.clock_returned || record.clock_returned;
    open_.timed_last_line = std::max(open_.timed_last_line, record.lines.front());
    keep_earliest(open_.begin, record.time);
    keep_latest(open_.end, record.time);
  }
  if (!open_.order.empty() && open_.order.back().id == id) {
    ++open_.order.back().count;
  } else if (!order_is_full()) {
    open_.order.push_back({id, 1});
  } else {
    open_.order_cut = true;
  }
  was_silent_ = false;
  if (!silent && ships_parameters(traits) && event.count <= kTupleRecordsMax &&
      !parameters_are_full(event.count == 1))
    add_parameters(record, id);
  if (cuts_rounds()) {
    open_.beat = beats_.number();
    open_.rounds = static_cast<std::uint16_t>(beats_.changes() + 1);
  }
  if (!traits.role.timers.empty()) add_timers(record, traits);
  if (!traits.durations.empty()) add_durations(record, traits);
}

void Segmenter::add_parameters(const decode::Record& record, LocalTemplateId id) {
  parameters::extract(record.text, record.details, values_);
  was_silent_ = values_.empty();
  if (was_silent_) return;
  std::size_t tuples = 0;
  for (wire::ParameterTuple& tuple : open_.parameters) {
    if (tuple.id != id) continue;
    if (tuple.values == values_) {
      ++tuple.count;
      return;
    }
    ++tuples;
  }
  if (tuples < kTuplesMax) open_.parameters.push_back({id, 1, values_});
}

void Segmenter::add_timers(const decode::Record& record, const TemplateTraits& traits) {
  L4_CHECK(traits.timer_ids.size() == traits.role.timers.size(), "{} ids for {} timers",
           traits.timer_ids.size(), traits.role.timers.size());
  traits.timer_hints.resize(traits.role.timers.size());
  for (std::size_t i = 0; i < traits.role.timers.size(); ++i) {
    const Timer& timer = *traits.role.timers[i];
    const std::uint16_t id = traits.timer_ids[i];
    const auto value =
        read_value(record.text, timer.number_after, record.outline, traits.timer_hints[i]);
    if (!value) continue;
    add_time(id, *value * timer.ms_per_unit);
  }
}

void Segmenter::add_time(std::uint16_t timer, double ms) {
  auto total = std::ranges::find(open_.timers, timer, &wire::TimerTotal::timer);
  if (total == open_.timers.end())
    total = open_.timers.insert(total, wire::TimerTotal{timer, 0, 0, 0});
  ++total->count;
  total->sum_ms += ms;
  total->max_ms = std::max(total->max_ms, ms);
}

/// Times that no pack names. They travel where it is known to which iteration or beat they belong.
void Segmenter::add_durations(const decode::Record& record, const TemplateTraits& traits) {
  for (const Duration& duration : traits.durations) {
    const auto ms = read_duration(record.text, duration, record.outline);
    if (ms && !is_clock(duration.id, *ms) && (has_number_ || open_.beat != 0))
      add_time(duration.id, *ms);
  }
}

/// The value has only grown so far, or only fallen: a time since some moment, or until one.
bool Segmenter::is_clock(std::uint16_t timer, double ms) {
  constexpr std::size_t kHeardMax = 32;
  constexpr std::uint16_t kLong = 12;
  auto heard = std::ranges::find(heard_, timer, &Heard::timer);
  if (heard == heard_.end()) {
    if (heard_.size() >= kHeardMax) return true;
    heard = heard_.insert(heard, {timer, 0, 0, ms});
  }
  const auto count = [](std::uint16_t& value) {
    if (value < std::numeric_limits<std::uint16_t>::max()) ++value;
  };
  if (ms > heard->last_ms) count(heard->rises);
  if (ms < heard->last_ms) count(heard->falls);
  heard->last_ms = ms;
  return (heard->rises >= kLong && heard->falls == 0) ||
         (heard->falls >= kLong && heard->rises == 0);
}

void Segmenter::close(wire::Boundary boundary) {
  if (!open_.events.empty() || boundary == wire::Boundary::completed) {
    // Records after the last completed iteration belong to the next one.
    if (!open_.iteration && completed_ && stride_ > 0) {
      open_.iteration = Iteration{completed_->value() + stride_};
      open_.counted = !has_number_;
      open_.before = has_number_ ? epochs_.before() : 0;
      open_.numbering = numbering_;
    }
    open_.source = source_;
    open_.boundary = boundary;
    sink_(std::move(open_), where_);
  }
  open_ = {};
  where_.clear();
  if (places_.size() > 0) places_ = {};
  open_.stage = stage_;
}

void Segmenter::cut() {
  if (open_.events.empty()) return;
  const auto iteration = open_.iteration;
  const bool counted = open_.counted;
  const std::int64_t before = open_.before;
  const std::uint16_t numbering = open_.numbering;
  close(wire::Boundary::none);
  open_.iteration = iteration;
  open_.counted = counted;
  open_.before = before;
  open_.numbering = numbering;
}

void Segmenter::finish() {
  close(wire::Boundary::none);
  complete_bar();
}

}  // namespace l4::segment
