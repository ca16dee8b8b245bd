#include "aggregator/diagnose/suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "aggregator/detect/delay/delays.h"
#include "aggregator/detect/hang/silent_ranks.h"
#include "aggregator/diagnose/verdict.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/printed.h"
#include "aggregator/job/share.h"
#include "aggregator/job/view.h"
#include "common/base/earliest.h"

namespace l4::diagnose {
namespace {

using detect::EventHint;
using detect::FailureEvent;
using detect::Severity;

constexpr double kCauseWeight = 2.0;
constexpr double kConsequenceWeight = 0.3;
constexpr double kAccuserWeight = 1.2;
constexpr double kNamedByPeersWeight = 1.8;
constexpr double kFirstWeight = 1.0;
constexpr double kSilentWeight = 1.6;
constexpr double kBehindWeight = 1.2;
constexpr double kDragWeight = 2.0;
constexpr double kSpatialWeight = 0.5;
constexpr double kTemporalWeight = 0.8;
constexpr double kWindowsWeight = 0.6;
constexpr double kDelayWeight = 0.6;

/// An event that does not sound like a failure counts half where another event was fatal.
double severity_weight(Severity severity, bool fatal) {
  switch (severity) {
    case Severity::fatal:
      return 1.0;
    case Severity::failure:
      return 0.8;
    case Severity::notice:
      return fatal ? 0.2 : 0.4;
    default:
      return fatal ? 0.125 : 0.25;
  }
}

/// Weight of an event as evidence against its rank: none for an echo, little for a notice or a mild
/// warning. As long as no cause is known, a rank that reports a lost peer is as good a lead as the
/// unnamed peer.
enum class Telling : std::uint8_t { nothing, hint, accuser, cause };

Telling telling_of(const EventHint& hint, const FailureEvent& failure) {
  if (hint.accuses_peer && !hint.consequence && !hint.waited && failure.severity == Severity::fatal)
    return Telling::accuser;
  if (hint.is_echo() || failure.follows) return Telling::nothing;
  return hint.mild || failure.severity < Severity::failure ? Telling::hint : Telling::cause;
}

/// 1 for evidence on one of `all`, 0 for evidence on all of them: -ln(share) / ln(all).
double rarity(std::size_t have, std::size_t all) {
  if (all < 2 || have == 0) return have == 0 ? 0.0 : 1.0;
  return std::log(static_cast<double>(all) / static_cast<double>(have)) /
         std::log(static_cast<double>(all));
}

class Collector {
 public:
  /// `lost`: JobView::nodes that stopped without a word.
  Collector(const Findings& findings, State state, const std::vector<std::uint32_t>& lost)
      : findings_(findings), state_(state), lost_(lost) {
    suspects_.ranks.resize(findings.view.ranks.size());
    suspects_.nodes.resize(findings.view.nodes.size());
    suspects_.outsiders.resize(findings.hints.outsiders.size());
    cause_time_.resize(findings.view.ranks.size());
    complained_.resize(findings.view.ranks.size());
  }

  // One for each row of kClues.
  void add_failures();
  void add_order();
  void add_silence();
  void add_missing_habits();
  void add_lag();
  void add_drags();
  void add_spatial();
  void add_windows();
  void add_delays();
  void add_turns();
  void add_temporal();
  void add_processes();
  void add_lost();
  Suspects finish() {
    return order_suspects(view(), findings_.hints.outsiders, std::move(suspects_));
  }

 private:
  /// Ranks that printed an event, with the first time.
  struct Ranks {
    std::map<std::uint32_t, std::optional<TimeMs>> first;
    std::set<std::uint32_t> nodes;
  };
  Ranks ranks_of(const FailureEvent& failure) const;
  void find_reporters();
  bool are_causes_common() const;
  void blame_accused(const FailureEvent& failure, double strength);
  bool blame_silent(detect::hang::Speakers speakers);
  bool is_agent_lost() const { return findings_.live != nullptr && !findings_.live->lost.empty(); }

  const job::JobView& view() const { return findings_.view; }
  std::size_t nodes() const { return findings_.view.nodes.size(); }

  void blame(std::uint32_t rank, double score, std::string why) {
    blame(suspects_.ranks[rank], score, std::move(why));
  }
  static void blame(Suspicion& suspicion, double score, std::string why) {
    suspicion.score += score;
    if (!why.empty() && suspicion.why.size() < 6) suspicion.why.push_back(std::move(why));
  }

  const Findings& findings_;
  const State state_;
  const std::vector<std::uint32_t>& lost_;
  Suspects suspects_;
  // By rank: printed a sign of the failure; a launcher or driver that tells of somebody else's.
  std::vector<bool> complained_, reports_;
  // By rank: time of its first event that is not an echo.
  std::vector<std::optional<TimeMs>> cause_time_;
};

Collector::Ranks Collector::ranks_of(const FailureEvent& failure) const {
  const job::EventView& event = view().events[failure.event];
  Ranks ranks;
  for (const std::uint32_t i : failure.occurrences) {
    const job::StreamView& stream = view().streams[event.at[i].stream];
    ranks.nodes.insert(stream.node);
    auto& first = ranks.first.try_emplace(stream.rank).first->second;
    keep_earliest(first, event.at[i].time);
  }
  return ranks;
}

/// A launcher, an operator or a driver that blames somebody tells of that one in its other lines,
/// too.
void Collector::find_reporters() {
  reports_.assign(view().ranks.size(), false);
  for (const FailureEvent& failure : findings_.failures.events) {
    const detect::Accused& accused = findings_.hints.accused[failure.event];
    if (accused.empty() || accused.by_peers) continue;
    for (const std::uint32_t i : failure.occurrences) {
      const std::uint32_t rank = view().streams[view().events[failure.event].at[i].stream].rank;
      if (!view().ranks[rank].rank) reports_[rank] = true;
    }
  }
}

/// What most nodes say alike tells of no place: then one of few nodes that lost something else is
/// the lead.
bool Collector::are_causes_common() const {
  return std::ranges::none_of(findings_.failures.events, [&](const FailureEvent& failure) {
    return telling_of(findings_.hints.events[failure.event], failure) == Telling::cause &&
           2 * count_nodes(view(), failure) <= nodes();
  });
}

/// Each rank gets the score of its best cause in full and the others in part: many lines are not
/// many causes.
void Collector::add_failures() {
  std::vector<double> best(view().ranks.size(), 0);
  std::vector<std::string> reason(view().ranks.size());
  bool fatal = false;
  Telling most = Telling::nothing;
  find_reporters();
  for (const FailureEvent& failure : findings_.failures.events) {
    const EventHint& hint = findings_.hints.events[failure.event];
    fatal |= failure.severity == Severity::fatal && !hint.is_echo() && !hint.mild;
    most = std::max(most, telling_of(hint, failure));
  }
  const bool alike = most == Telling::cause && are_causes_common();
  for (const FailureEvent& failure : findings_.failures.events) {
    const job::EventView& event = view().events[failure.event];
    const EventHint& hint = findings_.hints.events[failure.event];
    const detect::Accused& accused = findings_.hints.accused[failure.event];
    const Ranks said = ranks_of(failure);
    Telling telling = telling_of(hint, failure);
    const bool apart = alike && (hint.waited || hint.accuses_peer) &&
                       failure.severity == Severity::fatal &&
                       job::is_few(said.nodes.size(), nodes());
    if (apart) telling = most;
    const bool counts = telling == most && most != Telling::nothing;
    const bool follows = hint.is_echo() || failure.follows;
    const bool echo = (follows && !counts) || !accused.empty();
    const double role = echo ? kConsequenceWeight : hint.is_echo() ? kAccuserWeight : kCauseWeight;
    const double known = hint.known_fault && !hint.general && !follows ? 1.25 : 1.0;
    const Severity severity = telling == Telling::hint && most > telling
                                  ? std::min(failure.severity, Severity::notice)
                                  : failure.severity;
    const double strength = known * severity_weight(severity, fatal);
    const double weight = role * strength * (0.15 + 0.85 * rarity(said.nodes.size(), nodes()));
    for (const auto& [rank, first] : said.first) {
      Suspicion& suspicion = suspects_.ranks[rank];
      suspicion.events.push_back(failure.event);
      complained_[rank] = true;
      if (first && counts && !echo && !reports_[rank]) keep_earliest(cause_time_[rank], first);
      keep_earliest(suspicion.first_seen, first);
      const double own = reports_[rank] ? weight * kConsequenceWeight / kCauseWeight : weight;
      suspicion.score += 0.05 * own;
      if (own > best[rank]) {
        best[rank] = own;
        reason[rank] = echo || said.nodes.size() * 2 > nodes()
                           ? std::string()
                           : fmt::format("says \"{}\" ({} of {} nodes do)",
                                         event.text.substr(0, 80), said.nodes.size(), nodes());
      }
    }
    if (!accused.empty()) blame_accused(failure, strength);
  }
  for (std::uint32_t rank = 0; rank < best.size(); ++rank)
    if (best[rank] > 0) blame(rank, best[rank], std::move(reason[rank]));
}

/// Adds a line of one node or rank about others to those. A launcher, an operator or a driver knows
/// better than a peer that waits or has lost a connection.
void Collector::blame_accused(const FailureEvent& failure, double strength) {
  const job::EventView& event = view().events[failure.event];
  const detect::Accused& accused = findings_.hints.accused[failure.event];
  const bool guess = accused.by_peers && findings_.hints.events[failure.event].is_echo();
  const double most = strength * (guess ? kNamedByPeersWeight : kCauseWeight);
  const std::string why = fmt::format("{} says of it \"{}\"",
                                      view().nodes[view().streams[failure.first_stream].node].name,
                                      event.text.substr(0, 80));
  const auto add = [&](Suspicion& suspicion, double weight) {
    suspicion.events.push_back(failure.event);
    blame(suspicion, weight, why);
  };
  for (const std::uint32_t node : accused.nodes) {
    const auto& ranks = view().nodes[node].ranks;
    const auto is_launcher = [&](std::uint32_t rank) { return view().ranks[rank].launcher; };
    const bool no_rank = std::ranges::all_of(ranks, is_launcher);  // an actor in a driver's log
    for (const std::uint32_t rank : ranks)
      if (no_rank || !is_launcher(rank))
        add(suspects_.ranks[rank], most * rarity(accused.nodes.size(), nodes()));
  }
  for (const std::uint32_t rank : accused.ranks)
    add(suspects_.ranks[rank], most * rarity(accused.ranks.size(), view().training_ranks()));
  for (const std::uint32_t one : accused.outsiders) {
    keep_earliest(suspects_.outsiders[one].first_seen, failure.first_time);
    add(suspects_.outsiders[one], most / static_cast<double>(accused.outsiders.size()));
  }
}

/// Being first counts among nodes; differences below a second do not count (clocks differ). Being
/// the first to complain about others counts for little.
void Collector::add_order() {
  constexpr Millis kTie{1000};
  constexpr double kEchoShare = 0.3;
  const bool causes =
      std::ranges::any_of(cause_time_, [](const auto& time) { return time.has_value(); });
  auto seen = [&](std::uint32_t rank) {
    return causes ? cause_time_[rank] : suspects_.ranks[rank].first_seen;
  };
  std::vector<std::pair<TimeMs, std::uint32_t>> firsts;
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    std::optional<TimeMs> first;
    for (const std::uint32_t rank : view().nodes[node].ranks) keep_earliest(first, seen(rank));
    if (first) firsts.emplace_back(*first, node);
  }
  std::ranges::sort(firsts);
  std::size_t place = 1;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    if (i > 0 && firsts[i].first - firsts[i - 1].first > kTie) place = i + 1;
    const double bonus = kFirstWeight * (causes ? 1.0 : kEchoShare) *
                         rarity(place, std::max<std::size_t>(nodes(), 2));
    if (bonus <= 0) continue;
    const bool alone = i == 0 && (firsts.size() == 1 || firsts[1].first - firsts[0].first > kTie);
    for (const std::uint32_t rank : view().nodes[firsts[i].second].ranks)
      if (seen(rank) && *seen(rank) - firsts[i].first <= kTie)
        blame(rank, bonus, alone ? "was the first of all to say anything unusual" : std::string());
  }
}

/// A rank (or launcher) that is silent while most of its kind complain has died or hangs. True if
/// most complained.
bool Collector::blame_silent(detect::hang::Speakers speakers) {
  const auto [silent, silent_in_all, all] =
      detect::hang::find_silent_ranks(view(), complained_, speakers);
  const std::size_t complaining = all - silent_in_all;
  if (all < 3 || silent.empty() || complaining * 2 < all) return false;
  const double weight = kSilentWeight * rarity(silent.size(), all);
  for (const std::uint32_t rank : silent)
    blame(rank, weight,
          fmt::format("stopped without a word while {} of {} {} complained", complaining, all,
                      speakers == detect::hang::Speakers::launchers ? "launchers" : "ranks"));
  return true;
}

void Collector::add_silence() {
  const bool ranks = blame_silent(state_ == State::hung ? detect::hang::Speakers::hung_ranks
                                                        : detect::hang::Speakers::ranks);
  const bool launchers = blame_silent(detect::hang::Speakers::launchers);
  if (ranks || launchers) return;
  if (!findings_.failures.events.empty() || !findings_.silence.overdue) return;
  const auto& order = findings_.silence.order;
  if (order.size() < 2 || !order[0].since || !order[1].since) return;
  const Millis lead = *order[1].since - *order[0].since;
  // Ranks in step end within moments of each other, so a rank that ends well before them stands
  // out. A lead below a second may be due to clocks and counts less.
  const std::size_t last = order.size() - 1;
  if (!order[last].since || lead < Millis{200} || lead < 3 * (*order[last].since - *order[1].since))
    return;
  const double sure = lead > Millis{1000} ? 1.0 : 0.6;
  blame(order[0].rank, sure * kSilentWeight,
        fmt::format("fell silent {} before all others", to_human(lead)));
}

/// During a stall some ranks still print lines unrelated to progress (a metrics thread, a
/// heartbeat). A rank that used to print them and no longer does has stopped altogether.
void Collector::add_missing_habits() {
  constexpr Millis kSettle{2000};
  const auto& progress = findings_.clock.last_progress;
  if (!progress) return;
  for (const job::EventView& event : view().events) {
    std::vector<std::uint32_t> go_on, stopped;
    for (const job::Occurrence& occurrence : event.at) {
      const std::uint32_t rank = view().streams[occurrence.stream].rank;
      const auto& first = occurrence.stats.first_time;
      const auto& last = occurrence.stats.last_time;
      if (!first || !last || *first > *progress || view().ranks[rank].launcher) continue;
      (*last > *progress + kSettle ? go_on : stopped).push_back(rank);
    }
    if (stopped.empty() || go_on.size() < 2 || stopped.size() * 2 > go_on.size()) continue;
    const double weight = kSilentWeight * rarity(stopped.size(), stopped.size() + go_on.size());
    for (const std::uint32_t rank : stopped)
      blame(rank, weight,
            fmt::format("no longer says \"{}\", as {} ranks still do during the stall",
                        event.text.substr(0, 60), go_on.size()));
  }
}

void Collector::add_lag() {
  std::size_t behind = 0;
  std::vector<std::uint32_t> late;
  for (const std::uint32_t rank : findings_.clock.dense_ranks) {
    const auto completed = view().ranks[rank].completed;
    if (!completed || !findings_.clock.completed_by_any) continue;
    const auto lag = findings_.clock.completed_by_any->value() - completed->value();
    if (lag <= 0 || findings_.clock.is_far_behind(*completed)) continue;
    ++behind;
    late.push_back(rank);
  }
  if (behind == 0 || behind * 2 > findings_.clock.dense_ranks.size()) return;
  const double weight = kBehindWeight * rarity(behind, findings_.clock.dense_ranks.size());
  for (const std::uint32_t rank : late)
    blame(rank, weight,
          fmt::format("did not complete iteration {}, which others did",
                      job::printed(view(), *findings_.clock.completed_by_any).value()));
}

void Collector::add_drags() {
  if (!findings_.slowdown.found || findings_.slowdown.drags.empty()) return;
  const double most = findings_.slowdown.drags.front().score;
  for (const detect::slow::Drag& drag : findings_.slowdown.drags)
    blame(drag.rank, kDragWeight * drag.score / most,
          drag.score * 2 > most ? fmt::format("its own {} grew from {:.1f} to {:.1f} ms",
                                              drag.timer, drag.before_ms, drag.after_ms)
                                : std::string());
}

/// Adds the score of the Isolation Forest over the evidence cells.
void Collector::add_spatial() {
  if (!findings_.spatial || nodes() < 3) return;
  for (const detect::spatial::NodeScore& node : findings_.spatial->nodes) {
    if (node.isolation <= 0) continue;
    const double weight = kSpatialWeight * node.isolation;
    std::uint32_t best = 0;
    double most = -1;
    for (const std::uint32_t rank : view().nodes[static_cast<std::size_t>(node.node)].ranks)
      if (suspects_.ranks[rank].score > most) {
        most = suspects_.ranks[rank].score;
        best = rank;
      }
    if (most >= 0) blame(best, weight, std::string());
  }
}

/// Adds nodes that differed while the job ran: from their own past and from their peers.
void Collector::add_windows() {
  const auto& nodes = findings_.differences.nodes;
  for (const detect::spatial::NodeDifference& node : nodes) {
    if (!node.alarm && !has_suspects(state_)) continue;  // a notice is enough
    const double weight = kWindowsWeight * rarity(nodes.size(), findings_.view.nodes.size()) *
                          std::min(1.0, node.explanation / std::log(this->nodes()));
    const std::uint32_t event = node.events.front().event;
    std::set<std::uint32_t> ranks;
    for (const job::Occurrence& at : view().events[event].at)
      if (const job::StreamView& stream = view().streams[at.stream]; stream.node == node.node)
        ranks.insert(stream.rank);
    if (ranks.empty())
      ranks.insert(view().nodes[node.node].ranks.begin(), view().nodes[node.node].ranks.end());
    for (const std::uint32_t rank : ranks)
      blame(rank, weight,
            fmt::format("differs from its past and its peers by \"{}\"",
                        view().events[event].text.substr(0, 60)));
  }
}

/// Adds ranks that held the others up, or began long after them.
void Collector::add_delays() {
  using detect::delay::DelayKind;
  std::set<std::uint32_t> ranks;
  for (const detect::delay::Delay& delay : findings_.delays)
    if (delay.rank) ranks.insert(*delay.rank);
  const double weight = kDelayWeight * rarity(ranks.size(), view().training_ranks());
  for (const detect::delay::Delay& delay : findings_.delays) {
    if (!delay.rank || ranks.erase(*delay.rank) == 0) continue;
    const std::string took = to_human(Millis{static_cast<std::int64_t>(delay.ms)});
    switch (delay.kind) {
      case DelayKind::late_start:
        blame(*delay.rank, weight, fmt::format("began {} after its peers", took));
        break;
      case DelayKind::slow_phase:
        blame(*delay.rank, weight, fmt::format("its {} takes longer for good", delay.phase));
        break;
      case DelayKind::stall:
        blame(*delay.rank, weight, fmt::format("held an iteration up for {}", took));
        break;
    }
  }
}

/// Adds ranks that print their lines in another order than before, and than their peers.
void Collector::add_turns() {
  const double weight = kDelayWeight * rarity(findings_.turns.size(), view().training_ranks());
  for (const detect::temporal::Turn& turn : findings_.turns)
    blame(view().streams[turn.stream].rank, weight,
          fmt::format("prints \"{}\" before \"{}\" since iteration {}",
                      view().events[turn.later].text.substr(0, 60),
                      view().events[turn.earlier].text.substr(0, 60),
                      job::printed(view(), turn.iteration).value()));
}

/// Adds ranks whose last iteration differs from the expected sequence. When all ranks stop in the
/// middle of an iteration many differ, so a difference means little. After a crash the incomplete
/// iteration is skipped: it was cut off, and its failure lines are weighed elsewhere.
void Collector::add_temporal() {
  if (!findings_.temporal) return;
  const bool cut_off = state_ != State::hung && !findings_.failures.events.empty();
  const bool goes_on = !has_suspects(state_);  // its last iteration may be under way
  const auto newest = findings_.clock.completed_by_any;
  std::map<std::uint32_t, const detect::temporal::Anomaly*> flagged;  // by rank
  for (const detect::temporal::Anomaly& alarm : findings_.temporal->alarms) {
    if (alarm.kind != detect::temporal::AnomalyKind::sequence ||
        alarm.stream == detect::temporal::kAllStreams)
      continue;
    if (newest && alarm.iteration + 2 * findings_.clock.stride < newest->value()) continue;
    if (newest && (cut_off || goes_on) && alarm.iteration > newest->value()) continue;
    flagged[view().streams[findings_.sequences.streams[alarm.stream]].rank] = &alarm;
  }
  if (goes_on && !job::is_few(flagged.size(), view().training_ranks())) return;
  const double weight = kTemporalWeight * rarity(flagged.size(), view().training_ranks());
  for (const auto& [rank, alarm] : flagged) {
    std::string why = fmt::format("temporal: its iteration {} is not what it and its peers print",
                                  job::printed(view(), Iteration{alarm->iteration}).value());
    if (!alarm->missing.empty())
      why += fmt::format("; \"{}\" is missing",
                         view().events[alarm->missing.back()].text.substr(0, 60));
    blame(rank, weight, std::move(why));
  }
}

void Collector::add_processes() {
  for (ProcessSuspect& suspect : suspect_processes(view(), findings_.processes))
    blame(suspect.rank, suspect.score, std::move(suspect.why));
  if (!is_agent_lost()) return;
  for (const std::uint32_t node : lost_)
    for (const std::uint32_t rank : view().nodes[node].ranks)
      if (!view().ranks[rank].launcher)
        blame(rank, kProcessWeight, "its node's agent was lost, and the job has not gone on since");
}

/// Adds nodes whose logs all stop. If their agents are lost, too, add_processes() has added them.
void Collector::add_lost() {
  if (is_agent_lost()) return;
  for (const std::uint32_t node : lost_)
    for (const std::uint32_t rank : view().nodes[node].ranks)
      if (!view().ranks[rank].launcher)
        blame(rank, 2 * kSilentWeight,
              "all of the node's logs stop without a word; the others complain");
}

/// States of a job, one bit each.
using States = std::uint32_t;

template <class... T>
constexpr States in(T... states) {
  return ((States{1} << static_cast<unsigned>(states)) | ...);
}

constexpr States kAnyState = ~States{0};
constexpr States kFailed = kAnyState & ~in(State::healthy, State::finished);
constexpr States kStopped = kFailed & ~in(State::slow);

struct ClueRow {
  States states;  ///< of the job in which the clue is added
  void (Collector::*add)();
};

/// The clues in the order in which they are added: reasons are listed in this order, and
/// add_order() and add_silence() need the failures, add_spatial() the scores of all others.
constexpr std::array kClues{
    ClueRow{kFailed, &Collector::add_processes},
    ClueRow{kFailed, &Collector::add_failures},
    ClueRow{kAnyState & ~in(State::slow), &Collector::add_temporal},
    ClueRow{kAnyState, &Collector::add_windows},
    ClueRow{kAnyState, &Collector::add_delays},
    ClueRow{kAnyState, &Collector::add_turns},
    ClueRow{kStopped, &Collector::add_order},
    ClueRow{kStopped, &Collector::add_silence},
    ClueRow{in(State::hung), &Collector::add_missing_habits},
    ClueRow{kStopped, &Collector::add_lag},
    ClueRow{in(State::node_lost), &Collector::add_lost},
    ClueRow{in(State::slow), &Collector::add_drags},
    ClueRow{kFailed, &Collector::add_spatial},
};

}  // namespace

Suspects find_suspects(const Findings& findings, State state,
                       const std::vector<std::uint32_t>& lost_nodes) {
  Collector collector(findings, state, lost_nodes);
  for (const ClueRow& clue : kClues)
    if ((clue.states & in(state)) != 0) (collector.*clue.add)();
  return collector.finish();
}

}  // namespace l4::diagnose
