#include "agent/segment/segmenter.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/earliest.h"
#include "common/parameters/parameters.h"

namespace l4::segment {

std::optional<IterationMark> Segmenter::pack_mark(const decode::Record& record,
                                                  const IterationMarker& marker, ReadHint& hint) {
  const auto progress = read_progress(record.text, marker.number_after, record.outline, hint);
  if (!progress) return std::nullopt;
  if (marker.bar) {
    // Evaluation loops draw bars of the same shape with another total.
    if (!bar_total_) bar_total_ = progress->total;
    if (progress->total != bar_total_) return std::nullopt;
  }
  has_pack_marker_ = has_number_ = true;
  return IterationMark{epochs_.count(progress->number, progress->total), false, marker.boundary};
}

/// The mark of a bar that the decoder removed because text was printed on the bar's line. The bar
/// counts iterations if its total is that of the training, or if it is the first one in training.
std::optional<IterationMark> Segmenter::bar_mark(const decode::Record& record) {
  if (!record.progress || !record.progress_total) return std::nullopt;
  if (record.text.find("%|") != std::string_view::npos) return std::nullopt;  // the text is a bar
  if (!bar_total_ && stage_ == Stage::training) bar_total_ = record.progress_total;
  if (!bar_total_ || record.progress_total != bar_total_) return std::nullopt;
  has_number_ = true;
  return IterationMark{epochs_.count(*record.progress, record.progress_total), false,
                       wire::Boundary::completed, true};
}

std::optional<IterationMark> Segmenter::mark_of(const decode::Record& record, LocalTemplateId id,
                                                const TemplateTraits& traits) {
  if (traits.names_epoch)
    if (const auto epoch = epoch_in(record.text))
      epochs_.enter(*epoch, traits.role.iteration != nullptr);
  if (traits.role.iteration != nullptr)
    return pack_mark(record, *traits.role.iteration, traits.number_hint);
  if (const auto mark = bar_mark(record)) return mark;
  const bool ordinary = !record.folded && traits.level < Level::warning &&
                        traits.role.stage == Stage::unknown &&
                        traits.role.stage_end == Stage::unknown;
  if (!has_pack_marker_ && ordinary)
    if (const auto learned = learner_.observe(id, record.text, record.time)) {
      has_number_ = true;
      return IterationMark{epochs_.count(learned->number, learned->total), false,
                           wire::Boundary::completed};
    }
  if (!has_number_ && traits.role.progress)
    return IterationMark{++ticks_, true, wire::Boundary::completed};
  return std::nullopt;
}

/// Frameworks print several lines per iteration, and some count other things by the same name. The
/// first template that marks an iteration leads, together with templates of the same rule. A mark
/// of any other template counts only if it is near the leader's iteration; after kPatience
/// contradictions without a mark of the leader, the other template becomes the leader.
bool Segmenter::contradicts(const IterationMark& mark, LocalTemplateId id,
                            const IterationMarker* rule) {
  constexpr int kPatience = 6;
  const std::int64_t ahead = completed_ ? mark.iteration - completed_->value() : 0;
  const bool same_rule = rule != nullptr && rule == marker_rule_ && ahead >= 0;
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
  if (mark && marks_counted_ && !mark->counted) forget_counted();
  if (mark && contradicts(*mark, id, traits.role.iteration)) mark.reset();
  // A start-up line after the first iteration begins no stage: training also sets up libraries and
  // reads data.
  const Stage stage = stack_stage != Stage::unknown ? stack_stage : traits.role.stage;
  const bool late = completed_ && has_number_ && is_startup(stage);
  if (stack_stage != Stage::unknown && stage_ == Stage::unknown && !late)
    open_.stage = stage_ = stage;  // holds from the segment's begin on
  const bool begins_stage = stage != Stage::unknown && stage != stage_ && !late;
  const bool starts = mark && mark->boundary == wire::Boundary::started &&
                      open_.iteration != Iteration{mark->iteration};
  if (starts || begins_stage || slice_is_full(record))
    close(starts ? wire::Boundary::started : wire::Boundary::none);

  if (begins_stage) {
    stage_before_ = stage_;
    stage_ = stage;
  }
  if (mark) {
    has_marker_ = true;
    marks_counted_ = mark->counted;
    ++marks_;
    if (!marker_template_ && !mark->beside) {
      marker_template_ = id;
      marker_rule_ = traits.role.iteration;
    }
    if (starts || (is_startup(stage_) || stage_ == Stage::unknown)) stage_ = Stage::training;
    open_.iteration = Iteration{mark->iteration};
    open_.counted = mark->counted;
  }
  if (open_.events.empty()) open_.stage = stage_;
  append(record, id, traits, silent);

  if (traits.role.stage_end != Stage::unknown && traits.role.stage_end == stage_) {
    stage_ = completed_ ? Stage::training : stage_before_;
    open_.stage_after = stage_;
    close(wire::Boundary::none);
  }
  if (mark && mark->boundary == wire::Boundary::completed) {
    if (completed_ && mark->iteration > completed_->value())
      stride_ = mark->iteration - completed_->value();
    completed_ = Iteration{mark->iteration};
    open_.stage = Stage::training;
    close(wire::Boundary::completed);
    stage_ = Stage::training;
  }
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
  if (!traits.role.timers.empty()) add_timers(record, traits);
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
    const double ms = *value * timer.ms_per_unit;
    auto total = std::ranges::find(open_.timers, id, &wire::TimerTotal::timer);
    if (total == open_.timers.end())
      total = open_.timers.insert(total, wire::TimerTotal{id, 0, 0, 0});
    ++total->count;
    total->sum_ms += ms;
    total->max_ms = std::max(total->max_ms, ms);
  }
}

void Segmenter::close(wire::Boundary boundary) {
  if (!open_.events.empty()) {
    // Records after the last completed iteration belong to the next one.
    if (!open_.iteration && completed_ && stride_ > 0) {
      open_.iteration = Iteration{completed_->value() + stride_};
      open_.counted = !has_number_;
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
  close(wire::Boundary::none);
  open_.iteration = iteration;
  open_.counted = counted;
}

void Segmenter::finish() {
  close(wire::Boundary::none);
}

}  // namespace l4::segment
