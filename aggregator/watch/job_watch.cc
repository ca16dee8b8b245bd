#include "aggregator/watch/job_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aggregator/job/attempts.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/watch.h"
#include "common/base/check.h"
#include "common/base/earliest.h"
#include "common/saved/archive.h"

namespace l4::watch {
namespace {

bool speaks(const wire::Batch& batch) {
  return std::ranges::any_of(batch.segments,
                             [](const wire::Segment& segment) { return !segment.events.empty(); });
}

bool left_badly(const wire::ProcessFact& fact) {
  return fact.part == wire::Part::rank && fact.state == wire::ProcessState::gone &&
         !fact.exit.is_well() && fact.exit.kind != wire::Exit::Kind::unseen;
}

std::string slowness_text(const Pace& pace) {
  if (const int longs = pace.longs(); longs >= numbers::watch().pace_many)
    return fmt::format("{} of {} iterations take far longer than before ({:.0f} ms)", longs,
                       numbers::watch().pace_newest, pace.before_ms());
  return fmt::format("iterations take {:.1f} times as long as before ({:.0f} ms)", pace.ratio(),
                     pace.before_ms());
}

bool has_broken(State state) {
  return state == State::crashed || state == State::launch_failed;
}

/// The job has ended: nothing more is expected.
bool is_end(State state) {
  return state == State::finished || state == State::node_lost || has_broken(state);
}

constexpr std::array<std::string_view, kCauses> kNames{
    "error_line", "process_left", "process_stopped", "silent", "node_lost",
    "slower",     "node_differs", "network",         "ended",  "went_on"};

}  // namespace

std::string_view name(Cause cause) {
  L4_CHECK(static_cast<std::size_t>(cause) < kCauses, "no cause {}", cause);
  return kNames[static_cast<std::size_t>(cause)];
}

void JobWatch::fire(Trigger trigger) {
  auto& waiting = slots_[static_cast<std::size_t>(trigger.cause)].waiting;
  if (!waiting || (trigger.confirmed && !waiting->confirmed)) waiting = std::move(trigger);
}

bool JobWatch::is_over() const {
  return is_end(state_) && (failed_ || state_ == State::finished);
}

void JobWatch::applied(const job::JobState& state, const wire::Batch& batch, TimeMs arrival) {
  const auto known = state.agents().find(batch.agent);
  if (known == state.agents().end()) return;
  const auto [own, created] = agents_.try_emplace(batch.agent);
  if (created) own->second.number = static_cast<std::uint32_t>(agents_.size());
  const std::uint32_t number = own->second.number;

  const bool restarted = processes_.applied(batch.agent, batch.processes, arrival);
  if (restarted) progress_.restart(arrival);
  const Progress::Step step = progress_.applied(known->second, number, batch, arrival);
  if (restarted || step.started) {
    lines_.restart();
    suspected_.reset();
    confirmed_.reset();
    evidence_.reset();
    recheck_at_.reset();
    left_.reset();
    for (auto& [name, agent] : agents_) {
      agent.heard.reset();
      if (agent.back) restore(name, agent, arrival);
    }
  }
  note_left(batch.processes, arrival);
  const auto lines =
      lines_.applied(state, known->second, number, batch, progress_.ticks(), arrival);
  if (lines.worst) {
    evidence_ = arrival;
    // Later complaints of other ranks follow from the first line, and do not delay the check of
    // that line.
    if (!recheck_at_ || progress_.ticks() != ticks_at_evidence_) {
      const Millis typical = progress_.pauses().typical({Stage::training, false});
      recheck_at_ =
          arrival +
          std::clamp(2 * typical, numbers::watch().recheck_min, numbers::watch().recheck_max) +
          numbers::watch().late;
    }
    ticks_at_evidence_ = progress_.ticks();
    fire({Cause::error_line, arrival, lines.worst->node, lines.worst->rank,
          fmt::format("new line: {}", lines.worst->text), false});
  }
  if (lines.finished && state_ != State::finished)
    fire({Cause::ended, arrival, {}, {}, "its lines say that it ended well", false});
  if (step.long_pause) look_from_ = arrival + numbers::watch().settle;
  if (step.moved) moved(step, arrival);
  note_agent(own->second, batch, step, arrival);
}

void JobWatch::note_left(const std::vector<wire::ProcessFact>& facts, TimeMs arrival) {
  if (progress_.ticks() >= ticks_at_left_ + numbers::watch().goes_on_ticks) left_.reset();
  if (left_ || std::ranges::none_of(facts, left_badly)) return;
  left_ = arrival;
  ticks_at_left_ = progress_.ticks();
}

void JobWatch::moved(const Progress::Step& step, TimeMs now) {
  restore_agents(step, now);
  const auto last = progress_.last();
  if (suspected_ && last && *last > *suspected_) {
    fire({Cause::went_on, now, {}, {}, "progress after a silence: " + waits_text(), false});
    suspected_.reset();
    confirmed_.reset();
    if (state_ == State::hung) failed_ = false;
  }
  if (!step.ticked) return;
  // Last lines of other agents arrive late: two iterations, or one of another attempt, mean
  // progress.
  const bool again = progress_.attempts() > attempts_at_failure_;
  const bool on =
      progress_.ticks() >= ticks_at_failure_ + (again ? 1 : numbers::watch().goes_on_ticks);
  const bool later = failed_at_ && now > *failed_at_ + numbers::watch().settle;
  if (failed_ && state_ != State::slow && on && later) {
    failed_ = false;
    const char* what = again ? "iterations of another attempt" : "iterations after a failure";
    fire({Cause::went_on, now, {}, {}, what, false});
  }
  if (state_ == State::finished) state_ = State::unknown;
  const bool quick = slow_by_pace_
                         ? !progress_.pace().slower()
                         : progress_.ticks() >= ticks_at_failure_ + numbers::watch().slow_ticks;
  if (failed_ && state_ == State::slow && quick) {
    failed_ = false;
    fire({Cause::went_on, now, {}, {}, "iterations are as quick as before", false});
  }
  if (progress_.pace().ask())
    fire({Cause::slower, now, {}, {}, slowness_text(progress_.pace()), false});
}

void JobWatch::note_agent(AgentPresence& agent, const wire::Batch& batch,
                          const Progress::Step& step, TimeMs now) {
  if (agent.lost || progress_.by_activity() || (!speaks(batch) && !step.moved)) return;
  if (agent.heard && now > *agent.heard) {
    agent.largest = std::max(agent.largest, now - *agent.heard);
    if (agent.gaps < numbers::watch().gaps_min) ++agent.gaps;
  }
  agent.heard = now;
  agent.told = false;
}

void JobWatch::agent_lost(const std::string& agent, TimeMs heard) {
  AgentPresence& own = agents_[agent];
  if (own.number == 0) own.number = static_cast<std::uint32_t>(agents_.size());
  if (!own.lost) {  // otherwise it was lost earlier, without progress since
    own.lost = heard;
    own.ticks_at_loss = progress_.ticks();
    own.late = (left_ && *left_ + numbers::watch().settle < heard) ||
               (failed_ && has_broken(state_) && *failed_at_ + numbers::watch().settle < heard);
  }
  own.back.reset();
  back_.erase(agent);
  progress_.interrupt();
  if (!own.late)
    fire({Cause::node_lost, heard, agent, {}, fmt::format("agent {} is lost", agent), false});
}

/// A reconnected node may have changed, so the job must make progress, too.
void JobWatch::agent_back(const std::string& agent, TimeMs now) {
  const auto found = agents_.find(agent);
  if (found == agents_.end() || !found->second.lost) return;
  AgentPresence& own = found->second;
  own.back = now;
  back_.insert(agent);
  own.heard.reset();
  progress_.interrupt();
  if (own.late || progress_.ticks() >= own.ticks_at_loss + numbers::watch().goes_on_ticks)
    restore(agent, own, now);
}

void JobWatch::restore_agents(const Progress::Step& step, TimeMs now) {
  for (const std::string& name : std::vector(back_.begin(), back_.end())) {
    AgentPresence& agent = agents_[name];
    const bool again =
        progress_.by_activity() ||
        (step.ticked && progress_.ticks() >= agent.ticks_at_loss + numbers::watch().goes_on_ticks);
    if (now > *agent.back + numbers::watch().last_words && again) restore(name, agent, now);
  }
}

/// The agent is no longer lost.
void JobWatch::restore(const std::string& name, AgentPresence& agent, TimeMs now) {
  const bool late = std::exchange(agent.late, false);
  agent.lost.reset();
  agent.back.reset();
  agent.heard.reset();
  back_.erase(name);
  if (!late) fire({Cause::went_on, now, name, {}, fmt::format("agent {} is back", name), false});
}

void JobWatch::differs(const std::string& node, std::string detail, TimeMs now) {
  fire({Cause::node_differs, now, node, {}, std::move(detail), false});
}

void JobWatch::seen_from_outside(std::string detail, TimeMs now) {
  fire({Cause::network, now, {}, {}, std::move(detail), false});
}

void JobWatch::unheard() {
  progress_.interrupt();
  for (auto& [name, agent] : agents_) agent.heard.reset();
}

void JobWatch::resumed(const job::JobState& state, TimeMs now) {
  std::uint32_t number = static_cast<std::uint32_t>(agents_.size());
  for (const auto& [name, agent] : state.agents()) {
    const auto [own, created] = agents_.try_emplace(name);
    if (created) own->second.number = ++number;
    std::vector<wire::ProcessFact> facts;
    for (const auto& [key, fact] : agent.processes) facts.push_back(fact);
    static_cast<void>(processes_.applied(name, facts, now));
  }
  const job::Attempts attempts(state);
  const job::JobView view = job::make_view(attempts, attempts.numbers().back(), false);
  const job::JobClock clock = job::make_clock(view);
  std::vector<double> durations;
  for (const job::ClockTick& tick : clock.ticks)
    if (clock.paced && tick.duration_ms > 0) durations.push_back(tick.duration_ms);
  if (durations.size() > Pauses::kKept)
    durations.erase(durations.begin(), durations.end() - Pauses::kKept);
  progress_.resume(state, durations, clock.completed_by_any, now);
}

bool JobWatch::other_evidence() const {
  if (processes_.any_stopped()) return true;
  if (std::ranges::any_of(agents_,
                          [](const auto& each) { return each.second.lost && !each.second.late; }))
    return true;
  return evidence_ && progress_.last() && *evidence_ + numbers::watch().settle >= *progress_.last();
}

std::string JobWatch::waits_text() const {
  const PauseKind kind = progress_.kind();
  if (progress_.by_activity())
    return fmt::format("no iteration was marked yet, so lines of all sources count{}",
                       kind.stage == Stage::unknown
                           ? std::string()
                           : fmt::format(" (in {})", l4::name(kind.stage)));
  if (kind.stage != Stage::training)
    return fmt::format("{} began after iteration {}", l4::name(kind.stage),
                       progress_.newest_printed());
  return fmt::format("iteration {} was done", progress_.newest_printed());
}

/// While a process is stopped, missing progress is less likely a pause, so half the floor is
/// enough.
Millis JobWatch::suspect_after() const {
  const Millis floor = options_.suspect_floor / (processes_.any_stopped() ? 2 : 1);
  return progress_.pauses().deadline(progress_.kind(), floor);
}

Standing JobWatch::standing(TimeMs now) const {
  Standing standing;
  standing.since = progress_.last();
  const Pauses& pauses = progress_.pauses();
  const PauseKind kind = progress_.kind();
  standing.deadline = suspect_after();
  if (!standing.since) return standing;
  const Millis silent = now - *standing.since;
  standing.suspect = silent > standing.deadline;
  if (!standing.suspect) return standing;
  standing.confirmed = other_evidence() || (pauses.may_confirm(kind) &&
                                            silent > pauses.deadline(kind, options_.confirm_floor));
  return standing;
}

void JobWatch::check_silence(TimeMs now) {
  if (is_over()) return;
  const Standing standing = this->standing(now);
  if (!standing.suspect) return;
  const bool news =
      suspected_ != standing.since || (standing.confirmed && confirmed_ != suspected_);
  if (!news) return;
  suspected_ = standing.since;
  if (standing.confirmed) confirmed_ = standing.since;
  fire({Cause::silent,
        *standing.since,
        {},
        {},
        fmt::format("no progress for {}, {} is ordinary: {}", to_human(now - *standing.since),
                    to_human(standing.deadline), waits_text()),
        standing.confirmed});
}

void JobWatch::recheck_lines(TimeMs now) {
  if (!recheck_at_ || now < *recheck_at_) return;
  recheck_at_.reset();
  if (progress_.ticks() == ticks_at_evidence_ && evidence_)
    fire({Cause::error_line, *evidence_, {}, {}, "no iteration since lines of a failure", false});
}

/// All lines of a node stopped while the job goes on.
void JobWatch::check_agents(TimeMs now) {
  if (agents_checked_ &&
      now < *agents_checked_ + options_.suspect_floor / numbers::watch().check_part)
    return;
  agents_checked_ = now;
  const auto last = progress_.last();
  if (progress_.by_activity() || !last || is_over()) return;
  for (auto& [name, agent] : agents_) {
    if (agent.lost || agent.told || !agent.heard || agent.gaps < numbers::watch().gaps_min)
      continue;
    const Millis ordinary =
        std::max(numbers::watch().agent_gaps * agent.largest, options_.suspect_floor);
    if (now - *agent.heard <= ordinary || *last < *agent.heard + ordinary / 2) continue;
    agent.told = true;
    fire({Cause::node_lost,
          *agent.heard,
          name,
          {},
          fmt::format("nothing from any source of {} for {} while others go on", name,
                      to_human(now - *agent.heard)),
          false});
  }
}

std::vector<Trigger> JobWatch::due(TimeMs now) {
  for (Trigger& trigger : processes_.due(now)) {
    if (trigger.cause != Cause::ended) evidence_ = now;
    fire(std::move(trigger));
  }
  recheck_lines(now);
  check_silence(now);
  check_agents(now);
  std::vector<Trigger> due;
  for (Slot& slot : slots_) {
    if (slot.fired && now >= *slot.fired + options_.rearm) slot.fired.reset();
    if (!slot.waiting || slot.fired) continue;
    due.push_back(std::move(*slot.waiting));
    slot.waiting.reset();
    slot.fired = now;
  }
  return due;
}

std::optional<TimeMs> JobWatch::next_check() const {
  std::optional<TimeMs> next = processes_.next();
  const auto sooner = [&](TimeMs time) { keep_earliest(next, time); };
  for (const Slot& slot : slots_)
    if (slot.waiting) sooner(slot.fired ? *slot.fired + options_.rearm : slot.waiting->evidence);
  if (recheck_at_) sooner(*recheck_at_);
  const auto last = progress_.last();
  if (last && !is_over()) {
    const Pauses& pauses = progress_.pauses();
    const PauseKind kind = progress_.kind();
    if (suspected_ != last)
      sooner(*last + suspect_after() + Millis{1});
    else if (confirmed_ != last && pauses.may_confirm(kind))
      sooner(*last + pauses.deadline(kind, options_.confirm_floor) + Millis{1});
    if (agents_checked_)
      sooner(*agents_checked_ + options_.suspect_floor / numbers::watch().check_part);
  }
  return next;
}

void JobWatch::diagnosed(const diagnose::Report& report, TimeMs now) {
  for (Slot& slot : slots_) slot.fired.reset();
  if (look_from_ && now >= *look_from_) look_from_.reset();
  const bool failed = is_failure(report.verdict.state);
  if (failed && !(failed_ && report.verdict.state == state_)) {
    ticks_at_failure_ = progress_.ticks();
    attempts_at_failure_ = progress_.attempts();
    failed_at_ = now;
    slow_by_pace_ = progress_.pace().slower();
  }
  failed_ = failed;
  state_ = report.verdict.state;
}

diagnose::Live JobWatch::live(TimeMs now) const {
  const Standing standing = this->standing(now);
  diagnose::Live live;
  live.progress = standing.since;
  live.deadline = standing.deadline;
  live.overdue = standing.suspect;
  live.confirmed = standing.confirmed;
  live.typical = progress_.pauses().typical({Stage::training, false});
  for (const auto& [name, agent] : agents_)
    if (agent.lost) live.lost.push_back({name, *agent.lost, agent.back.has_value(), agent.late});
  return live;
}

template <class Archive, class Self>
void JobWatch::persist(Archive& archive, Self& self) {
  archive.part(self.progress_);
  archive.part(self.lines_);
  archive.part(self.processes_);
  const auto text = [&](auto& name) { archive(name); };
  archive.map(self.agents_, 10, text, [&](auto& agent, const std::string& name) {
    archive(agent.number, agent.heard, agent.lost, agent.largest, agent.gaps, agent.told,
            agent.back, agent.ticks_at_loss, agent.late);
    if constexpr (Archive::kLoads) {
      if (agent.back) self.back_.insert(name);
    }
  });
  archive(self.evidence_, self.recheck_at_, self.left_, self.ticks_at_evidence_,
          self.ticks_at_left_);
}

void JobWatch::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void JobWatch::load(ByteReader& in) {
  saved::Reader archive(in);
  back_.clear();
  persist(archive, *this);
}

}  // namespace l4::watch
