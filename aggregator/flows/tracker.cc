#include "aggregator/flows/tracker.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "aggregator/flows/numbers.h"

namespace l4::flows {
namespace {

float seconds(TimeNs time) {
  return static_cast<float>(static_cast<double>(time) / 1e9);
}

/// Groups that end a step: gradients if there are any.
bool tells_steps(const Group& group, bool has_data) {
  return group.rule && (group.label == Label::data || !has_data);
}

}  // namespace

JobTracker::JobTracker(JobPlan plan, const StreamTable& table, const Losses& losses,
                       std::size_t ends_max)
    : plan_(std::move(plan)), losses_(&losses), ends_max_(ends_max) {
  for (std::uint32_t i = 0; i < plan_.cards.size(); ++i) place_of_card_[plan_.cards[i]] = i;
  std::unordered_map<std::uint32_t, std::uint32_t> unit_of;
  const auto unit = [&](std::uint32_t stream) -> Unit& {
    const auto [at, is_new] = unit_of.try_emplace(stream, units_.size());
    if (is_new) units_.push_back({stream});
    return units_[at->second];
  };
  const bool has_data = std::ranges::any_of(
      plan_.groups, [](const Group& g) { return g.rule && g.label == Label::data; });
  std::vector<TimeNs> periods;
  const auto spare = std::make_shared<std::vector<Event>>();
  for (std::uint32_t g = 0; g < plan_.groups.size(); ++g) {
    Group& group = plan_.groups[g];
    GroupState state{Assembler(group.edges.size(), group.events, spare),
                     {},
                     {},
                     {},
                     {},
                     0,
                     0,
                     false,
                     0,
                     {},
                     {},
                     false,
                     {}};
    if (tells_steps(group, has_data)) {
      state.counter.emplace(*group.rule);
      for (std::size_t i = 1; i < group.rule->gaps.size(); ++i)
        state.near = std::max(state.near, group.rule->gaps[i]);
      state.near += state.near / 2 + group.rule->period / 100;
      periods.push_back(group.rule->period);
      ++clocks_;
    }
    if (group.rule) group.rule->gaps = {};  // the counter has what it needs of them
    for (std::uint32_t e = 0; e < group.edges.size(); ++e) {
      Unit& own = unit(group.edges[e].stream);
      own.group = g;
      own.edge = e;
      state.exporters.push_back(table.streams()[group.edges[e].stream].exporter);
      for (const std::uint32_t card : {group.edges[e].src, group.edges[e].dst})
        state.card_of.push_back(static_cast<std::uint32_t>(
            std::ranges::lower_bound(group.cards, card) - group.cards.begin()));
    }
    std::ranges::sort(state.exporters);
    state.exporters.erase(std::ranges::unique(state.exporters).begin(), state.exporters.end());
    groups_.push_back(std::move(state));
  }
  period_ = median(periods);
  for (const Group& group : plan_.groups) sweep_ = std::max(sweep_, group.events.hold);
  pipes_.resize(plan_.pipes.size());
  pipes_into_.resize(plan_.cards.size());
  pipes_out_.resize(plan_.cards.size());
  for (std::uint32_t p = 0; p < plan_.pipes.size(); ++p) {
    unit(plan_.pipes[p].stream).pipe = p;
    pipes_[p].src_place = place_of_card_.at(plan_.pipes[p].src);
    pipes_out_[place_of_card_.at(plan_.pipes[p].src)].push_back(p);
    pipes_into_[place_of_card_.at(plan_.pipes[p].dst)].push_back(p);
  }
  for (const Edge& edge : plan_.experts) unit(edge.stream);
  units_.shrink_to_fit();
  begin_step(0);
}

/// The memory of a step that is over is used again.
void JobTracker::begin_step(TimeNs begin) {
  open_.begin = begin;
  open_.end = open_.first_send = 0;
  open_.lossy = open_.partial = false;
  open_.storage = 0;
  open_.groups.resize(groups_.size());
  for (GroupStep& group : open_.groups) group.clear();
  open_.pipes.assign(pipes_.size(), {});
  open_.wake.assign(plan_.cards.size(), kUnknown);
}

void JobTracker::add(const Row& row, std::uint32_t index) {
  const Unit& unit = units_[index];
  if (first_row_ == 0) first_row_ = row.start;
  if (last_row_ != 0 && row.start > last_row_)
    longest_gap_ = std::max(longest_gap_, row.start - last_row_);
  if (row.end > swept_ + sweep_) sweep(row.end);
  // Groups that were not heard of again end the step without having told their end.
  if (reported_ > 0 && reported_ < clocks_ && row.start > last_report_ + 2 * spread_ + period_ / 4)
    close_step();
  last_row_ = std::max(last_row_, row.end);
  if (unit.group != kNone) {
    const std::uint32_t group = unit.group;
    const TimeNs offset = plan_.groups[group].edges[unit.edge].offset;
    groups_[group].assembler.add({unit.edge, row.start - offset, row.end - offset, row.bytes},
                                 [&](const Event& event) { add_event(group, event); });
  }
  if (open_.first_send == 0 || row.start < open_.first_send) open_.first_send = row.start;
  if (unit.pipe == kNone) return;
  add_send(unit.pipe, row);
  float& wake = open_.wake[pipes_[unit.pipe].src_place];
  const float at = seconds(row.start - open_.begin);
  if (std::isnan(wake) || at < wake) wake = at;
}

/// Events that lack an edge are over when time has passed them, also where their group is silent.
void JobTracker::sweep(TimeNs now) {
  swept_ = now;
  for (std::uint32_t g = 0; g < groups_.size(); ++g)
    groups_[g].assembler.release(now, [&](const Event& event) { add_event(g, event); });
}

void JobTracker::add_event(std::uint32_t index, const Event& event) {
  GroupState& state = groups_[index];
  state.last_end = event.end;
  state.is_torn = event.parts.size() < plan_.groups[index].edges.size();
  if (state.is_torn) state.torn = event;
  if (!state.counter) {
    open_.groups[index].transfer += seconds(event.transfer());
    return;
  }
  const std::size_t before = state.counter->counted();
  const auto boundary =
      state.counter->add({event.first_start, event.end, event.bytes / event.parts.size()});
  const bool is_own = boundary && boundary->end == event.end;  // it ends with this event
  if (boundary && !is_own) end_group(index, *boundary);
  GroupStep& step = state.step;
  if (before == 0 || (boundary && !is_own) || step.late.empty()) {
    step.first_start = event.first_start;
    step.late.assign(plan_.groups[index].cards.size(), 0);
  }
  add_lateness(state, event);
  step.transfer += seconds(event.transfer());
  if (is_own) end_group(index, *boundary);
}

/// An edge starts when both of its ends are ready: a card came with the earliest of its edges.
void JobTracker::add_lateness(GroupState& state, const Event& event) {
  state.came.assign(state.step.late.size(), kUnknown);
  for (const KeptPart& part : event.parts) {
    const float at = seconds(event.start_of(part) - event.first_start);
    for (const std::size_t side : {0, 1}) {
      float& came = state.came[state.card_of[part.edge * 2 + side]];
      if (std::isnan(came) || at < came) came = at;
    }
  }
  for (std::size_t card = 0; card < state.came.size(); ++card)
    if (!std::isnan(state.came[card])) state.step.late[card] += state.came[card];
}

void JobTracker::end_group(std::uint32_t index, const Boundary& boundary) {
  GroupState& state = groups_[index];
  const TimeNs before = state.boundary;
  state.step.length = boundary.complete && state.was_complete ? boundary.end - before : 0;
  state.was_complete = boundary.complete;
  state.boundary = boundary.end;
  bool is_certain = boundary.complete;
  // What was lost earlier in the step did not end it.
  if (!is_certain)
    is_certain = std::ranges::none_of(state.exporters, [&](std::uint32_t exporter) {
      return losses_->is_lossy(exporter, boundary.end, boundary.end + state.near);
    });
  if (is_certain) push_bounded(state.ends, boundary.end, ends_max_);
  if (last_end_ != 0 && boundary.end < last_end_ + period_ / 2) {  // of the step that was closed
    state.step.clear();
    return;
  }
  // A group that ends a second time, or long after the others, opens the next step.
  if (open_.groups[index].end != 0 ||
      (reported_ > 0 && boundary.end > first_report_ + period_ / 2 + spread_))
    close_step();
  state.step.end = boundary.end;
  state.step.complete = boundary.complete;
  std::swap(open_.groups[index], state.step);
  state.step.clear();
  if (reported_++ == 0) first_report_ = boundary.end;
  first_report_ = std::min(first_report_, boundary.end);
  last_report_ = std::max(last_report_, boundary.end);
  if (reported_ == clocks_) {
    spread_ = std::max(spread_, last_report_ - first_report_);
    close_step();
  }
}

void JobTracker::close_step() {
  constexpr double kEnoughGroups = 0.4;
  const bool is_step =
      static_cast<double>(reported_) >= kEnoughGroups * static_cast<double>(clocks_);
  // Stages end their steps one after another: the middle of other groups is another moment.
  const bool is_part = reported_ < clocks_;
  const bool differs = is_part || was_part_;
  reported_ = 0;
  if (!is_step) {  // the step goes on
    for (GroupStep& group : open_.groups) group.end = 0;
    return;
  }
  finish_pipes();
  std::vector<TimeNs> ends;
  bool lossy = false;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (open_.groups[g].end == 0) continue;
    ends.push_back(open_.groups[g].end);
    for (const std::uint32_t exporter : groups_[g].exporters)
      lossy = lossy || losses_->is_lossy(exporter, last_end_, last_report_);
  }
  open_.end = median(ends);
  open_.begin = last_end_ == 0 ? first_row_ : last_end_;
  open_.lossy = open_.partial = lossy;
  was_part_ = is_part;
  if (lossy || differs)
    if (const auto length = agreed_length()) {
      open_.lossy = false;
      open_.begin = open_.end - *length;
    }
  open_.storage = storage_within(open_.begin, open_.end);
  if (losses_->is_storage_lossy(open_.begin, open_.end)) open_.lossy = true;
  last_end_ = open_.end;
  if (done_ == closed_.size()) closed_.emplace_back();
  std::swap(open_, closed_[done_++]);
  begin_step(last_end_);
}

/// The length on which two groups agree that saw all of their events in this step and the last. A
/// group of a length that holds a further step counts only where nothing of it can have been lost.
std::optional<TimeNs> JobTracker::agreed_length() const {
  constexpr double kAgree = 0.01;
  std::vector<TimeNs> lengths;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const GroupStep& group = open_.groups[g];
    if (group.end == 0 || group.length <= 0) continue;
    const bool is_long = group.length > period_ + period_ / 2;
    if (is_long && std::ranges::any_of(groups_[g].exporters, [&](std::uint32_t exporter) {
          return losses_->is_lossy(exporter, group.end - group.length, group.end);
        }))
      continue;
    lengths.push_back(group.length);
  }
  if (lengths.size() < 2) return std::nullopt;
  const TimeNs middle = median(lengths);
  const auto agreeing = std::ranges::count_if(lengths, [&](TimeNs length) {
    return std::abs(static_cast<double>(length - middle)) < kAgree * static_cast<double>(middle);
  });
  if (agreeing < 2 || agreeing * 2 < std::ssize(lengths)) return std::nullopt;
  return middle;
}

void JobTracker::finish(TimeNs now) {
  sweep(now);
  if (reported_ > 0) close_step();
}

void JobTracker::add_storage(TimeNs start, TimeNs end) {
  constexpr std::size_t kKept = 256;
  storage_.emplace_back(start, end);
  storage_until_ = std::max(storage_until_, end);
  if (storage_.size() > kKept) storage_.pop_front();
}

double JobTracker::storage_within(TimeNs from, TimeNs to) const {
  // Writers work side by side: their union counts.
  std::vector<std::pair<TimeNs, TimeNs>> within;
  for (const auto& [start, end] : storage_)
    if (end > from && start < to) within.emplace_back(std::max(start, from), std::min(end, to));
  std::ranges::sort(within);
  TimeNs sum = 0, last = from;
  for (const auto& [start, end] : within) {
    if (end > last) sum += end - std::max(start, last);
    last = std::max(last, end);
  }
  return static_cast<double>(sum) / 1e9;
}

JobTracker::GroupNow JobTracker::now(std::size_t group) const {
  const GroupState& state = groups_[group];
  GroupNow now{state.counter ? state.counter->counted() : 0,
               {state.assembler.open().begin(), state.assembler.open().end()},
               state.last_end};
  if (now.open.empty() && now.counted > 0 && state.is_torn) now.open.push_back(state.torn);
  return now;
}

void JobTracker::add_send(std::uint32_t pipe, const Row& row) {
  PipeStep& step = open_.pipes[pipe];
  if (step.sends == 0) step.first_start = row.start;
  ++step.sends;
  step.last_end = std::max(step.last_end, row.end);
  step.seconds += static_cast<double>(row.end - row.start) / 1e9;
  step.bytes += static_cast<double>(row.bytes);
  PipeState& state = pipes_[pipe];
  state.last_end = row.end;
  state.last_bytes = row.bytes;
  if (state.starts.size() >= kSendsMax) return;
  state.starts.push_back(row.start);
  state.ends.push_back(row.end);
}

/// Services of all pipes of the step that ends, once what they wait for is learned.
void JobTracker::finish_pipes() {
  for (std::uint32_t p = 0; p < pipes_.size(); ++p) {
    if (!pipes_[p].is_learned) learn_need(p);
    open_.pipes[p].service = service_of(p);
  }
  for (PipeState& pipe : pipes_) {
    pipe.starts.clear();
    pipe.ends.clear();
  }
}

/// A send waits for a receipt of its card: of those that always came before it, the latest.
void JobTracker::learn_need(std::uint32_t index) {
  constexpr int kShiftMax = 8;
  PipeState& state = pipes_[index];
  if (state.starts.size() < 2 || state.starts.size() >= kSendsMax) return;
  state.is_learned = true;
  state.usual_sends = static_cast<unsigned>(state.starts.size());
  TimeNs best = 0;
  for (const std::uint32_t other : pipes_into_[state.src_place])
    for (int shift = 0; shift <= kShiftMax; ++shift) {
      const auto& ends = pipes_[other].ends;
      std::vector<TimeNs> lags;
      for (std::size_t k = static_cast<std::size_t>(shift); k < state.starts.size(); ++k)
        if (k - static_cast<std::size_t>(shift) < ends.size())
          lags.push_back(state.starts[k] - ends[k - static_cast<std::size_t>(shift)]);
      if (lags.size() * 2 < state.starts.size()) continue;
      if (std::ranges::any_of(lags, [](TimeNs lag) { return lag <= 0; })) continue;
      const TimeNs lag = median(lags);
      if (state.need && lag >= best) continue;
      state.need = Need{other, shift};
      best = lag;
    }
}

float JobTracker::service_of(std::uint32_t index) const {
  const PipeState& state = pipes_[index];
  if (state.starts.size() != state.usual_sends || state.starts.size() < 2) return kUnknown;
  const auto& outs = pipes_out_[state.src_place];
  std::vector<TimeNs> services;
  for (std::size_t k = 0; k < state.starts.size(); ++k) {
    TimeNs from = 0;
    if (state.need) {
      const auto at = static_cast<std::ptrdiff_t>(k) - state.need->shift;
      const auto& ends = pipes_[state.need->pipe].ends;
      if (at >= 0 && at < std::ssize(ends)) from = ends[static_cast<std::size_t>(at)];
    }
    for (const std::uint32_t out : outs) {  // the card's send before this one
      const auto& starts = pipes_[out].starts;
      const auto next = std::ranges::lower_bound(starts, state.starts[k] - kMillisecond / 5);
      if (next != starts.begin()) from = std::max(from, next[-1]);
    }
    if (from != 0 && from < state.starts[k]) services.push_back(state.starts[k] - from);
  }
  if (services.empty()) return kUnknown;
  // The mean, so that one long pause shows.
  return seconds(std::accumulate(services.begin(), services.end(), TimeNs{0}) /
                 std::ssize(services));
}

}  // namespace l4::flows
