#include "aggregator/diagnose/verdict.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "aggregator/detect/evidence/lines_by_log.h"
#include "aggregator/detect/evidence/wording.h"
#include "aggregator/diagnose/findings/causes.h"
#include "aggregator/diagnose/findings/lost_nodes.h"
#include "aggregator/diagnose/findings/waiting.h"
#include "aggregator/diagnose/network_notes.h"
#include "aggregator/diagnose/opening.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/printed.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/crash.h"
#include "aggregator/numbers/verdict.h"
#include "common/base/earliest.h"

namespace l4::diagnose {
namespace {

using detect::FailureEvent;
using detect::Severity;

/// Lines that healthy runs do not print stand for words that are not read.
bool stands_for_words(const detect::FailureEvents& found) {
  return found.compared && found.pooled && !found.worded && !found.open;
}

/// Exceptions that ended threads, by their heads: the program goes on without them. They are looked
/// for when they are first asked for.
class ThreadsEnded {
 public:
  explicit ThreadsEnded(const job::JobView& view) : view_(view) {}

  bool any() {
    look();
    return !heads_.empty();
  }
  /// The line is such a head, or the exception stands below one.
  bool hold(const job::Occurrence& at) {
    look();
    const auto lines = heads_.find(view_.streams[at.stream].log());
    if (lines == heads_.end()) return false;
    const auto behind = lines->second.upper_bound(at.first_line);
    return behind != lines->second.begin() &&
           at.first_line - *std::prev(behind) <= numbers::crash().block_lines;
  }

 private:
  void look() {
    if (looked_) return;
    looked_ = true;
    for (const job::EventView& event : view_.events) {
      if (!detect::is_head_of_thread(event.text)) continue;
      for (const job::Occurrence& at : event.at)
        heads_[view_.streams[at.stream].log()].insert(
            {at.first_line, detect::last_known_line(at.stats)});
    }
  }

  const job::JobView& view_;
  bool looked_ = false;
  std::map<job::Log, std::set<std::uint64_t>> heads_;
};

/// Only threads ended with an error, beside a job that came to its end: those that read data are
/// not told of it.
bool only_threads_failed(const Findings& findings) {
  const detect::ending::Endings& endings = findings.endings;
  if (!endings.complete && !endings.kept && !endings.well) return false;
  ThreadsEnded threads(findings.view);
  if (!threads.any()) return false;
  return std::ranges::all_of(findings.failures.events, [&](const FailureEvent& failure) {
    if (failure.severity < Severity::failure ||
        is_consequence(failure, findings.hints.events[failure.event]))
      return true;
    return std::ranges::all_of(failure.occurrences, [&](const std::uint32_t i) {
      return threads.hold(findings.view.events[failure.event].at[i]);
    });
  });
}

/// A fatal line behind the word of a good end: the job failed while it was ending, or that was the
/// end of something else.
bool fails_behind_end(const Findings& findings) {
  std::vector<std::uint64_t> end = findings.endings.well_lines;  // by stream
  end.resize(findings.view.streams.size(), 0);
  for (const job::EventView& event : findings.view.events) {
    if ((event.marks & wire::kMarkFinished) == 0) continue;
    for (const job::Occurrence& at : event.at)
      end[at.stream] = std::max(end[at.stream], at.stats.last_line);
  }
  const Severity least = stands_for_words(findings.failures) ? Severity::failure : Severity::fatal;
  ThreadsEnded threads(findings.view);
  for (const FailureEvent& failure : findings.failures.events) {
    if (failure.severity < least) continue;
    const job::EventView& event = findings.view.events[failure.event];
    for (const std::uint32_t i : failure.occurrences) {
      const job::Occurrence& at = event.at[i];
      if (end[at.stream] > 0 && at.first_line > end[at.stream] && !threads.hold(at)) return true;
    }
  }
  return false;
}

bool has_finished(const VerdictInput& input) {
  std::size_t training = 0;
  std::size_t said = 0;
  bool launcher = false;
  for (std::size_t i = 0; i < input.findings.view.ranks.size(); ++i) {
    const job::RankView& rank = input.findings.view.ranks[i];
    if (rank.launcher) {
      launcher = launcher || input.findings.stages.finished[i];
      continue;
    }
    if (rank.lines > 0) ++training;
    if (input.findings.stages.finished[i]) ++said;
  }
  if (said * 2 > training) return !fails_behind_end(input.findings);
  const detect::FailureEvents& failures = input.findings.failures;
  const bool speaks_against = stands_for_words(failures) && !failures.events.empty();
  return (launcher || said > 0) && !failures.fatal && !speaks_against;
}

/// The only evidence is that ranks waited for others until a timeout. Such a timeout ends the
/// waiting process, whichever rank it waited for.
bool ended_in_wait(const Findings& findings) {
  if (has_cause(findings)) return false;
  return std::ranges::any_of(findings.failures.events, [&](const FailureEvent& failure) {
    const auto& hint = findings.hints.events[failure.event];
    return failure.severity >= Severity::failure && hint.waited && hint.consequence && !hint.setup;
  });
}

/// A stop that is no consequence of another failure.
bool was_stopped(const Findings& findings) {
  return std::ranges::any_of(findings.failures.events, [&](const FailureEvent& failure) {
    const auto& hint = findings.hints.events[failure.event];
    return hint.stop && !is_consequence(failure, hint) && failure.severity >= Severity::failure;
  });
}

/// Some failure for which `holds` stands among the last lines of a stream.
template <class Holds>
bool ends_with(const Findings& findings, Holds holds) {
  return std::ranges::any_of(findings.failures.events, [&](const FailureEvent& failure) {
    if (!holds(failure, findings.hints.events[failure.event])) return false;
    const job::EventView& event = findings.view.events[failure.event];
    return std::ranges::any_of(failure.occurrences, [&](std::uint32_t i) {
      const job::Occurrence& at = event.at[i];
      return findings.view.streams[at.stream].state->is_among_last(at.stats.last_line,
                                                                   numbers::verdict().last_lines);
    });
  });
}

/// The logs end with a stop: a program that catches the signal says so, and ends without an error.
bool ends_with_stop(const Findings& findings) {
  const auto is_stop = [](const FailureEvent&, const detect::EventHint& hint) { return hint.stop; };
  return findings.live == nullptr && was_stopped(findings) && ends_with(findings, is_stop);
}

/// The last lines of a stream say that a peer is gone, and nothing went on behind them. What is
/// known and printed as a warning also comes where the peer has ended well, a little earlier; not
/// so where most nodes print it and one was silent before (`lost`).
bool ends_with_lost_peer(const Findings& findings, bool lost) {
  return ends_with(findings, [&](const FailureEvent& failure, const detect::EventHint& hint) {
    const bool warns = hint.known_fault && hint.mild &&
                       findings.view.events[failure.event].level == Level::warning;
    return failure.severity >= Severity::failure && hint.accuses_peer && (lost || !warns);
  });
}

/// Each line of the failure was passed by an iteration that its own node, by the same clock,
/// completed later, and the job is on its pace while somebody looks.
bool was_passed(const Findings& findings) {
  const job::JobClock& clock = findings.clock;
  const auto stalled = static_cast<double>(findings.silence.stalled_for.count());
  if (!clock.paced || clock.ticks.empty() || findings.silence.overdue) return false;
  const double pace = std::max(clock.gap_median_ms, clock.ticks.back().duration_ms);
  if (stalled > numbers::verdict().on_pace * pace) return false;
  std::vector<std::optional<TimeMs>> progress(findings.view.nodes.size());
  for (const job::StreamView& stream : findings.view.streams)
    keep_latest(progress[stream.node], stream.state->last_completed_time);
  return std::ranges::all_of(findings.failures.events, [&](const FailureEvent& failure) {
    const job::EventView& event = findings.view.events[failure.event];
    return std::ranges::all_of(failure.occurrences, [&](const std::uint32_t i) {
      const job::Occurrence& at = event.at[i];
      const auto& own = progress[findings.view.streams[at.stream].node];
      return own && at.time && *at.time + numbers::verdict().passed_apart < *own;
    });
  });
}

/// Some line says that a process ended or cannot go on, and no progress followed.
bool has_failed(const Findings& findings, bool silence_known) {
  if (findings.failures.events.empty() || findings.failures.open) return false;
  if (only_threads_failed(findings)) return false;
  if (silence_known && findings.live == nullptr && was_passed(findings)) return false;
  if (findings.failures.fatal || findings.endings.badly || ends_with_stop(findings)) return true;
  // What only the comparison found counts for a job that stopped, and not against its launcher,
  // unless it follows the launcher's word.
  if (findings.failures.compared) return !findings.endings.well || fails_behind_end(findings);
  const bool failure =
      std::ranges::any_of(findings.failures.events, [&](const FailureEvent& event) {
        return event.severity >= Severity::failure &&
               !findings.hints.events[event.event].only_warns();
      });
  // Something failed, but no process is said to have ended: only a stopped job makes it fatal.
  return failure && (findings.silence.overdue || ended_in_wait(findings));
}

/// A launcher's stream belongs to all attempts: lines in it before the first line of this attempt's
/// ranks belong to another attempt.
bool is_of_attempt(const job::JobView& view, const job::Occurrence& occurrence) {
  if (view.attempt == 0) return true;
  std::optional<TimeMs> begin;
  for (const job::RankView& rank : view.ranks)
    if (!rank.launcher) keep_earliest(begin, rank.begin);
  return begin && occurrence.time && *occurrence.time >= *begin;
}

/// One rank cannot go on and another reports a lost peer. The first rank's process may take seconds
/// to exit.
bool took_others_along(const Findings& findings) {
  std::set<std::uint32_t> causes, echoes;
  for (const FailureEvent& failure : findings.failures.events) {
    const auto& hint = findings.hints.events[failure.event];
    const bool echo = hint.consequence || hint.accuses_peer;
    if (failure.severity < (echo ? Severity::failure : Severity::fatal)) continue;
    const job::EventView& event = findings.view.events[failure.event];
    for (const std::uint32_t i : failure.occurrences) {
      const std::uint32_t rank = findings.view.streams[event.at[i].stream].rank;
      if (!findings.view.ranks[rank].launcher) (echo ? echoes : causes).insert(rank);
    }
  }
  return std::ranges::any_of(causes, [&](const std::uint32_t cause) {
    return std::ranges::any_of(echoes, [&](const std::uint32_t echo) { return echo != cause; });
  });
}

/// A live job made no progress for longer than its iterations take.
bool stands_still(const Findings& findings) {
  return findings.silence.stalled_for >=
         std::max(numbers::verdict().still_min, 2 * findings.live->typical);
}

/// Healthy jobs print tracebacks, so lines alone do not prove a live crash. A live crash needs one
/// of: a process exit, a launcher's message, or no progress. If all processes are alive, peers must
/// also report the failure.
bool is_sure(const Findings& findings) {
  if (findings.live == nullptr || findings.silence.overdue) return true;
  if (findings.processes.first_left || findings.processes.launcher_left) return true;
  for (const FailureEvent& failure : findings.failures.events) {
    if (failure.severity != Severity::fatal) continue;
    const job::EventView& event = findings.view.events[failure.event];
    for (const std::uint32_t i : failure.occurrences)
      if (findings.view.ranks[findings.view.streams[event.at[i].stream].rank].launcher &&
          is_of_attempt(findings.view, event.at[i]))
        return true;
  }
  if (!findings.clock.has_iterations()) return false;
  if (findings.processes.known && !took_others_along(findings)) return false;
  return stands_still(findings);
}

/// A program that prints bare numbers, and little else, works: some print each loss so.
bool prints_figures(const job::JobView& view) {
  constexpr std::string_view kOneNumber = "<*>";
  for (const job::EventView& event : view.events) {
    if (event.text != kOneNumber) continue;
    for (const job::Occurrence& at : event.at) {
      const std::uint64_t lines = view.streams[at.stream].state->last_line;
      if (at.stats.count >= numbers::verdict().figures_times && at.stats.count * 2 >= lines)
        return true;
    }
  }
  return false;
}

/// A loss was printed: one line of an unknown program may be too few to tell its iterations.
bool prints_loss(const job::JobView& view) {
  return std::ranges::any_of(view.streams, [](const job::StreamView& stream) {
    return std::ranges::any_of(stream.state->figures.windows(), [](const wire::FigureWindow& one) {
      return one.kind == wire::FigureKind::loss;
    });
  });
}

/// Step 0 is all that was printed, as some programs do when they are set up, and behind it most
/// ranks were still starting.
bool is_only_set_up(const Findings& findings) {
  const job::JobClock& clock = findings.clock;
  if (clock.completed_by_any != Iteration{0} || !clock.first_progress) return false;
  return std::ranges::any_of(findings.stages.spans, [&](const detect::stage::Span& span) {
    return is_startup(span.stage) && span.end && *span.end >= *clock.first_progress &&
           2 * span.ranks > findings.view.training_ranks();
  });
}

/// Training had begun: iterations were completed, or, where none are printed, several signs of
/// progress were seen, the training stage had lasted, or figures were printed.
bool has_trained(const VerdictInput& input) {
  const job::JobClock& clock = input.findings.clock;
  const bool set_up = is_only_set_up(input.findings);
  if (clock.has_iterations() && !set_up &&
      (!clock.counted || clock.ticks.size() >= numbers::verdict().signs_min))
    return true;
  if (prints_figures(input.findings.view)) return true;
  if (!set_up && prints_loss(input.findings.view)) return true;
  const auto& failed = input.findings.failures.first_failure;
  return failed &&
         std::ranges::any_of(input.findings.stages.spans, [&](const detect::stage::Span& span) {
           return span.stage == Stage::training && span.begin &&
                  *failed - *span.begin > numbers::verdict().training_lasting;
         });
}

/// Collects a bit for each fact that holds.
class FactSet {
 public:
  void add(Fact fact, bool holds) { known_ |= holds ? facts(fact) : Facts{0}; }
  Facts known() const { return known_; }

 private:
  Facts known_ = 0;
};

/// All training ranks fell silent while they saved, for longer than the deadline, and other logs
/// go on: words for the end of the training before do not tell that the save ended.
bool stands_in_save(const Findings& findings) {
  bool any = false;
  for (std::size_t i = 0; i < findings.view.ranks.size(); ++i) {
    const job::RankView& rank = findings.view.ranks[i];
    if (rank.launcher || rank.lines == 0 || !rank.completed) continue;
    if (findings.stages.last_of_rank[i] != Stage::checkpoint_save) return false;
    any = true;
  }
  return any && findings.silence.overdue && !findings.endings.ended();
}

/// `trained`: has_trained(); `in_save`: stands_in_save().
void add_failures(const VerdictInput& input, bool trained, bool in_save, FactSet& set) {
  const Findings& findings = input.findings;
  const Opening opening = opening_of(findings);
  set.add(Fact::failed, findings.processes.first_left || input.lost_known ||
                            (has_failed(findings, input.silence_known) && is_sure(findings)));
  const bool stopped = was_stopped(findings);
  set.add(Fact::stopped, stopped);
  set.add(Fact::waited, ended_in_wait(findings) && !is_torn(findings) &&
                            (trained || !is_too_young_to_wait(findings)));
  const bool unended = input.silence_known && findings.live == nullptr && stands_unended(findings);
  const bool stands = unended || (in_save && !findings.failures.fatal);
  set.add(Fact::stood, stood_by_network(findings).value_or(stands || began_as_hang(findings)) &&
                           (!stopped || stood_before_stop(findings)));
  set.add(Fact::fatal, findings.failures.fatal || findings.processes.exit_seen);
  set.add(Fact::untimed, !delay_to_failure(findings));
  set.add(Fact::peer_lost, ends_with_lost_peer(findings, !input.lost_nodes.empty()));
  set.add(Fact::opening, opening == Opening::seen);
  set.add(Fact::starting, opening == Opening::launch);
  set.add(Fact::lost, !input.lost_nodes.empty() || names_lost_outsider(findings));
}

/// Lines about an end also stand among iterations. In a running job they count once its processes
/// have left, or once no further progress followed.
bool may_have_ended(const Findings& findings) {
  if (findings.live == nullptr) return true;
  if (findings.processes.all_left || findings.processes.launcher_left) return true;
  return stands_still(findings);
}

/// `in_save`: stands_in_save().
void add_ends(const VerdictInput& input, bool in_save, FactSet& set) {
  const detect::ending::Endings& endings = input.findings.endings;
  set.add(Fact::said_well, has_finished(input) && !in_save);
  set.add(Fact::left_well, input.findings.processes.all_left_well);
  if (!may_have_ended(input.findings)) return;
  set.add(Fact::closed_well, endings.well);
  set.add(Fact::complete, endings.complete);
  set.add(Fact::cut_short, endings.short_of);
  set.add(Fact::kept, endings.kept);
  set.add(Fact::ended, endings.ended());
  set.add(Fact::tidied, endings.tidied && !endings.is_told());
  // After a long silence the signal ends a job that stood still.
  set.add(Fact::gone, endings.gone || (endings.asked && !input.findings.silence.overdue));
}

/// The logs end with words for a good end: an evaluation that prints nothing stood before them.
bool closed_late(const Findings& findings) {
  const auto& end = findings.silence.last_activity;
  return findings.live == nullptr && findings.endings.said && end &&
         *end - *findings.endings.said <= findings.silence.deadline;
}

}  // namespace

Facts facts_of(const VerdictInput& input) {
  const Findings& findings = input.findings;
  const bool marked = findings.clock.has_iterations();
  FactSet set;
  const bool in_save = stands_in_save(findings);
  add_ends(input, in_save, set);
  const bool trained = has_trained(input);
  add_failures(input, trained, in_save, set);
  set.add(Fact::untrained, !trained);
  set.add(Fact::unmarked, !marked);
  const bool slow = findings.slowdown.found && !findings.slowdown.by_symptoms;
  set.add(Fact::slowed, slow || findings.network.slow != nullptr);
  set.add(Fact::dragged, findings.slowdown.found && findings.slowdown.by_symptoms);
  const bool works = findings.network.goes_on || findings.network.stores;
  const bool stands = stands_by_network(findings);
  set.add(Fact::overdue, (findings.silence.overdue && !closed_late(findings) && !works) || stands);
  set.add(Fact::torn, is_torn(findings));
  set.add(Fact::waits, stands && !is_torn(findings));
  // A hang that is only suspected is reported for information, with a confidence below one half.
  set.add(Fact::suspected, findings.live != nullptr && !findings.live->confirmed);
  set.add(Fact::vacant, findings.processes.all_left);
  // The logs end at an unknown time, so a running job cannot be told from a stopped one.
  set.add(Fact::blind, !input.silence_known);
  set.add(Fact::short_log, !marked && findings.view.lines < numbers::verdict().short_log_lines);
  set.add(Fact::live, findings.live != nullptr);
  return set.known();
}

/// A program that made progress says that it leaves.
static bool leaves(const job::JobView& view) {
  return std::ranges::any_of(view.streams, [](const job::StreamView& stream) {
    return stream.state->last_completed && !stream.state->stages.empty() &&
           stream.state->stages.back().stage == Stage::exit;
  });
}

/// Behind its last iteration a rank began to evaluate or to save, perhaps by the words of another
/// library, and never did before: what follows may take long.
static bool pauses(const job::JobView& view) {
  const auto completed = job::completed_lines(view);
  return std::ranges::any_of(view.streams, [&](const job::StreamView& stream) {
    if (!view.ranks[stream.rank].completed) return false;
    const std::uint64_t line = completed.at(stream.log());
    const auto& stages = stream.state->stages;
    return std::ranges::any_of(stages, [&](const job::StageChange& change) {
      return change.line > line &&
             (change.stage == Stage::evaluation || change.stage == Stage::checkpoint_save) &&
             std::ranges::none_of(stages, [&](const job::StageChange& before) {
               return before.stage == change.stage && before.line <= line;
             });
    });
  });
}

/// As long as some iterations.
static Millis pause_of(const Findings& findings) {
  const Millis pause{
      static_cast<std::int64_t>(numbers::verdict().pause_gaps * findings.clock.gap_median_ms)};
  return std::max(numbers::verdict().pause_min, pause);
}

/// Nothing was completed for some iterations.
static bool stood(const Findings& findings) {
  return findings.silence.stalled_for >= pause_of(findings);
}

/// Behind the last of the new lines the job completed some iterations more.
static bool was_left_behind(const Findings& findings) {
  std::optional<TimeMs> newest;
  for (const FailureEvent& failure : findings.failures.events)
    for (const std::uint32_t i : failure.occurrences) {
      const auto& last = findings.view.events[failure.event].at[i].stats.last_time;
      if (!last) return false;
      keep_latest(newest, last);
    }
  const auto progress = findings.clock.last_progress;
  return newest && progress && *newest + pause_of(findings) < *progress;
}

/// More than half of the ranks completed an iteration that those with new lines have not completed:
/// they did not wait for these, which are only a little later.
static bool others_went_on(const Findings& findings) {
  const job::JobView& view = findings.view;
  std::optional<Iteration> closed_at;
  for (const FailureEvent& failure : findings.failures.events)
    for (const std::uint32_t i : failure.occurrences) {
      const std::uint32_t stream = view.events[failure.event].at[i].stream;
      keep_latest(closed_at, view.ranks[view.streams[stream].rank].completed);
    }
  const auto later = std::ranges::count_if(view.ranks, [&](const job::RankView& rank) {
    return rank.completed && closed_at && *rank.completed > *closed_at;
  });
  return 2 * static_cast<std::size_t>(later) > view.training_ranks();
}

bool has_stopped(const Findings& findings) {
  // A program that leaves prints new lines, and so does one that evaluates or saves for the first
  // time, behind which nothing follows for a while.
  const bool leaving = leaves(findings.view);
  // Its new lines are the same on all nodes, or one node prints more of them than the others.
  const bool pausing =
      !findings.silence.overdue && !findings.failures.parted && pauses(findings.view);
  if (findings.live == nullptr && findings.failures.closed && !leaving && !pausing &&
      !others_went_on(findings) && !was_left_behind(findings) &&
      (findings.failures.led || stood(findings)) &&
      (findings.failures.events.size() >= numbers::verdict().closing_events_min ||
       !find_lost_nodes(findings).empty()))
    return true;
  const detect::ending::Endings& endings = findings.endings;
  // Where words count, those of a good end say more than new lines behind them.
  if (endings.well || endings.complete || endings.kept)
    return !findings.failures.worded && findings.failures.closing >= numbers::verdict().closing_min;
  // A program that closes what it used was not killed: where words count, they tell of a failure.
  const bool tidied = endings.tidied && !findings.failures.worded;
  if (endings.is_told() || tidied || findings.processes.first_left) return true;
  // Without healthy runs a pause is known by its length alone, whatever was printed before it.
  if (!findings.failures.pooled || leaving) return false;
  if (findings.silence.overdue) return true;
  if (findings.live != nullptr) return false;  // it may go on
  if (pausing) return false;
  // Healthy runs print none of these events, so a pause of some iterations is enough, unless few
  // nodes end with them, and no rank that iterates does.
  const bool about_it = findings.failures.closed || findings.failures.led;
  return findings.failures.events.size() > 1 && about_it && stood(findings);
}

Verdict decide(const VerdictInput& input, Facts known) {
  const Findings& findings = input.findings;
  const VerdictRow& row = row_of(known);
  Verdict verdict;
  verdict.state = row.state;
  verdict.because = row.because;
  if (verdict.state == State::slow) {
    if (!findings.clock.counted && findings.slowdown.found)
      verdict.iteration = findings.slowdown.first;
    verdict.since = findings.slowdown.since;
    if (!findings.slowdown.found && findings.network.slow != nullptr)
      verdict.since = findings.network.slow->since;
  } else if (!has_suspects(verdict.state)) {
    if (!findings.clock.counted) verdict.iteration = findings.clock.completed_by_any;
  } else {
    // Behind its last iteration a job has no next one.
    if (!findings.clock.counted)
      verdict.iteration = findings.endings.complete ? findings.clock.completed_by_any
                                                    : findings.clock.first_incomplete;
    const auto progress = findings.clock.last_progress;
    const bool stood =
        verdict.state == State::hung || (verdict.state == State::node_lost && input.lost_known);
    verdict.since = stood && progress                 ? progress
                    : findings.failures.first_failure ? findings.failures.first_failure
                    : findings.processes.first_left   ? findings.processes.first_left
                    : progress                        ? progress
                                                      : findings.view.end;
  }
  // Training is synchronous: a running job's ranks that seem further behind have lines on their
  // way.
  if (findings.live != nullptr && verdict.state == State::crashed && verdict.iteration &&
      findings.clock.completed_by_any)
    verdict.iteration = std::max(*verdict.iteration, *findings.clock.completed_by_any);
  if (verdict.iteration) verdict.iteration = job::printed(findings.view, *verdict.iteration);
  return verdict;
}

}  // namespace l4::diagnose
