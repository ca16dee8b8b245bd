#include "aggregator/diagnose/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aggregator/detect/crash/set_apart.h"
#include "aggregator/detect/evidence/ending.h"
#include "aggregator/diagnose/attendance.h"
#include "aggregator/diagnose/certainty.h"
#include "aggregator/diagnose/clues/scale.h"
#include "aggregator/diagnose/detectors.h"
#include "aggregator/diagnose/findings/lost_nodes.h"
#include "aggregator/diagnose/findings/pool.h"
#include "aggregator/diagnose/findings/standing.h"
#include "aggregator/diagnose/network_notes.h"
#include "aggregator/diagnose/notable.h"
#include "aggregator/diagnose/paper.h"
#include "aggregator/diagnose/place_fault.h"
#include "aggregator/diagnose/read_summary.h"
#include "aggregator/diagnose/report_builder.h"
#include "aggregator/diagnose/stops.h"
#include "aggregator/diagnose/summary.h"
#include "aggregator/diagnose/suspects.h"
#include "aggregator/diagnose/verdict.h"
#include "aggregator/job/attempts.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/rank_coverage.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/diagnose.h"
#include "common/base/check.h"
#include "common/base/earliest.h"

namespace l4::diagnose {
namespace {

AsOf as_of(const job::JobView& view, const Options& options) {
  std::optional<TimeMs> newest = view.end;
  for (const job::NodeView& node : view.nodes) keep_latest(newest, node.end);
  if (options.as_of) return {*options.as_of, true};
  return {newest.value_or(TimeMs{}), false};
}

/// Files that stopped growing within the hour before `as_of` are originals.
bool is_just_before(const job::JobState& state, TimeMs as_of) {
  for (const auto& [name, agent] : state.agents())
    for (const auto& [id, stream] : agent.streams) {
      const auto modified = stream.source.modified;
      if (modified &&
          (*modified > as_of || as_of - *modified > numbers::diagnose().original_within))
        return false;
    }
  return true;
}

/// File times are real unless they are all equal and long after the last line: such files are
/// copies.
bool trust_mtimes(const job::Attempts& attempts, std::int32_t attempt, const Options& options) {
  if (!options.mtimes_equal) return true;
  if (options.as_of && is_just_before(attempts.state(), *options.as_of)) return true;
  const job::JobView view = job::make_view(attempts, attempt, false);
  for (const job::StreamView& stream : view.streams)
    if (stream.state->source.modified && view.end &&
        *stream.state->source.modified - *view.end < numbers::diagnose().copy_age)
      return true;
  return false;
}

/// A job that recovered by a restart still has the node that made the restart necessary, if it is
/// known.
void adopt_suspects(Diagnosis& into, Diagnosis&& failed) {
  if (failed.report.nodes.empty() && failed.report.events.empty()) return;
  into.report.nodes = std::move(failed.report.nodes);
  into.report.ranks = std::move(failed.report.ranks);
  into.report.events = std::move(failed.report.events);
  into.report.faults = std::move(failed.report.faults);
  std::erase_if(into.report.certainty,
                [](const Certainty& one) { return one.of != clues::Claim::state; });
  for (Certainty& one : failed.report.certainty)
    if (one.of != clues::Claim::state) into.report.certainty.push_back(std::move(one));
  into.scopes = std::move(failed.scopes);
}

/// Warnings about the input, and about parts of it that were not kept.
std::vector<wire::Warning> warnings_of(const job::Attempts& attempts,
                                       std::size_t iterations_left_out) {
  const job::JobState& state = attempts.state();
  std::vector<wire::Warning> warnings = state.warnings();
  if (attempts.dropped() > 0)
    warnings.push_back({"forgotten", "",
                        fmt::format("{} earlier runs were let go: of a file that holds several "
                                    "the newest {} are told of",
                                    attempts.dropped(), job::kRunsKept),
                        0});
  if (const auto ranks = job::rank_coverage(state); ranks.is_short())
    warnings.push_back({"ranks", "", job::text(ranks), 0});
  if (state.forgotten() > 0)
    warnings.push_back({"forgotten", "",
                        fmt::format("{} templates that were not seen for long were let go, with "
                                    "their counts: more memory keeps them ([memory] "
                                    "templates_max_total)",
                                    state.forgotten()),
                        0});
  if (state.lines_by_half() > 0)
    warnings.push_back({"flood", "",
                        fmt::format("{} lines of a flood of ever new lines were grouped by half "
                                    "of their words",
                                    state.lines_by_half()),
                        0});
  if (iterations_left_out > 0)
    warnings.push_back({"forgotten", "",
                        fmt::format("the {} oldest iterations were not compared with each other: "
                                    "it would take too long",
                                    iterations_left_out),
                        0});
  std::ranges::stable_sort(warnings, {}, &wire::Warning::file);
  return warnings;
}

/// `lost`: number of nodes whose agents are lost. Nodes that waited for the lost ones may look just
/// as suspicious.
Scope scope_in(const Built& built, State state, std::size_t lost) {
  if (!has_suspects(state)) return Scope::none;
  if (state != State::node_lost || lost == 0) return scope_of(built);
  const std::size_t nodes = built.findings.view.nodes.size();
  if (lost == nodes && nodes > 1) return Scope::all;
  return lost == 1 ? Scope::node : Scope::several;
}

/// Some event tells that a process ended or waited, or shows a known fault. Anything less, such as
/// an error that nobody knows or the echoes of a teardown, is printed by healthy jobs, too.
bool has_evidence(const Findings& findings) {
  if (findings.failures.open) return true;
  return std::ranges::any_of(findings.failures.events, [&](const detect::FailureEvent& event) {
    const detect::EventHint& hint = findings.hints.events[event.event];
    if (hint.waited) return true;
    if (event.severity < detect::Severity::failure || hint.mild) return false;
    if (event.severity == detect::Severity::fatal || !findings.hints.accused[event.event].empty())
      return true;
    return hint.known_fault && !is_consequence(event, hint);
  });
}

/// Where a job stands still, a new line with which some nodes ended and others did not.
void keep_parting(const job::JobView& view, std::vector<detect::FailureEvent>& events) {
  std::erase_if(events, [&](const detect::FailureEvent& event) {
    return 2 * count_nodes(view, event) > view.nodes.size() ||
           !detect::crash::is_closing(view, event);
  });
}

bool asks_to_end(const Findings& findings, const detect::FailureEvent& event) {
  return detect::ending_of(findings.view.events[event.event].text) == detect::Ending::asked;
}

/// A program that was asked to end did not end for what it prints behind that, nor, where healthy
/// runs do not tell what is usual, for what it printed before.
bool is_explained_by_asking(const Findings& findings, const detect::FailureEvent& event) {
  const auto& asked = findings.endings.asked_lines;
  if (asked.empty()) return false;
  if (!findings.failures.pooled) return true;
  const auto& at = findings.view.events[event.event].at;
  return std::ranges::all_of(event.occurrences, [&](std::uint32_t i) {
    const std::uint64_t line = asked[at[i].stream];
    return line != 0 && at[i].first_line > line;
  });
}

/// Differences that no word explains tell of a failure where the job is over or stands still, and
/// where there is more than the sign of an end. Where healthy runs are not known they tell only who
/// stands apart: in a job that is silent for too long, and where the meaning of lines is not known
/// either, so that nothing speaks against them. What was printed before a signal from outside ended
/// a process did not end it.
void weigh_differences(Findings& findings) {
  detect::FailureEvents& found = findings.failures;
  const std::optional<TimeMs>& struck = findings.processes.first_struck;
  std::erase_if(found.events, [&](const detect::FailureEvent& event) {
    if (!found.pooled && struck && event.first_time && *event.first_time < *struck) return true;
    if (found.worded && is_explained_by_asking(findings, event)) return true;
    if (!found.worded && asks_to_end(findings, event)) return false;  // words do not count
    return std::ranges::find(findings.endings.signs, event.event, &detect::FailureEvent::event) !=
           findings.endings.signs.end();
  });
  found.note_failures();
  const std::size_t least = found.pooled ? 1 : 2;
  if (found.events.size() >= least && has_stopped(findings)) return;
  found.open = true;
  const bool silent = !found.pooled && findings.silence.overdue;
  const bool unread = !found.pooled && !found.worded && findings.live == nullptr;
  if (silent) keep_parting(findings.view, found.events);
  if (found.events.empty() || (!silent && (!unread || found.events.size() < least)))
    findings.apart = std::exchange(found, {});
}

void build_failure(const Built& built, const faults::Library* library, Diagnosis& diagnosis) {
  build_events(built, diagnosis);
  build_faults(built, library, diagnosis.report);
  if (library != nullptr) place_fault(*library, diagnosis.report);
}

/// Scope and stage of the verdict.
void place(const Built& built, std::size_t lost, bool untrained, Report& report) {
  Verdict& verdict = report.verdict;
  verdict.scope = waited_for_nodes(report) ? Scope::unknown : scope_in(built, verdict.state, lost);
  const bool launching =
      verdict.state == State::launch_failed || (verdict.state == State::hung && untrained);
  verdict.stage = stage_of(built, launching);
  if (verdict.stage == Stage::unknown && verdict.state == State::launch_failed)
    verdict.stage = Stage::init;
}

/// Earlier attempts are only listed with their verdict; the last one is reported in whole.
enum class Depth : std::uint8_t { verdict, whole };

Diagnosis diagnose_attempt(const job::Attempts& attempts, std::int32_t attempt, const Pool& pool,
                           const Options& options, Depth depth) {
  const job::JobState& state = attempts.state();
  job::JobView made = job::make_view(attempts, attempt, trust_mtimes(attempts, attempt, options));
  const std::optional<Live> heard = without_senders(options.live, options.network);
  const Live* live = heard ? &*heard : nullptr;
  if (live != nullptr) forget_processes(made, live->lost);
  if (options.without.has(Part::processes))
    for (job::RankView& rank : made.ranks) rank.process = nullptr;
  const job::JobView& view = made;
  const job::JobClock clock = job::make_clock(view);
  const bool as_published = options.scoring == Scoring::paper;
  const bool knows_faults = !as_published && !options.without.has(Part::library);
  const faults::Library* const library = knows_faults ? options.library : nullptr;
  using detect::cross_job::Rule;
  Hints hints =
      make_hints(view, pool, library, as_published ? Rule::paper : Rule::l4, options.without);
  Attempt asked{options, pool, as_of(view, options)};
  Findings findings{view, clock, hints, live};
  run_detectors(Step::seen, asked, findings);
  if (findings.failures.compared) weigh_differences(findings);
  order_stops(view, findings.failures, hints);

  Diagnosis diagnosis;
  Report& report = diagnosis.report;
  auto lost_nodes = live != nullptr ? nodes_of_lost(view, *live) : std::vector<std::uint32_t>{};
  const bool lost_known = !lost_nodes.empty();
  if (live == nullptr)
    lost_nodes = without_senders(findings, find_lost_nodes(findings));  // live: agents tell
  const VerdictInput input{findings, lost_nodes, asked.now.known, lost_known};
  const Facts known = facts_of(input);
  report.verdict = decide(input, known);
  if (depth == Depth::verdict) return diagnosis;
  asked.state = report.verdict.state;
  if (asked.state == State::unknown && !has_evidence(findings)) findings.failures = {};
  const bool failed = has_suspects(asked.state);
  const clues::Scale& scale = options.scale ? *options.scale : clues::shipped_scale();
  run_detectors(Step::compared, asked, findings);
  say_how_sure(input, known, scale, report);
  Standing standing = find_standing(findings, failed);
  if (!failed) findings.failures = std::move(standing.events);
  Suspects suspects = find_suspects(findings, asked.state, lost_nodes, scale);
  if (as_published && failed) {
    PaperFindings paper = diagnose_as_published(findings, options.seed);
    findings.failures = std::move(paper.failures);
    suspects = std::move(paper.suspects);
    findings.temporal = std::move(paper.temporal);
  }
  const Built built{findings, suspects};
  report.job.id = state.id();
  build_job(view, report.job);
  build_nodes(built, report);
  build_ranks(built, report);
  build_clues(built, report);
  build_iterations(built, report);
  if (failed || !findings.failures.events.empty()) build_failure(built, library, diagnosis);
  build_stages(built, report);
  place(built, lost_known ? lost_nodes.size() : 0, (known & facts(Fact::untrained)) != 0, report);
  report.pool = {pool.runs > 0, pool.runs, hints.events_dropped};
  L4_CHECK(findings.temporal, "no detector compared the iterations of attempt {}", attempt);
  report.warnings = warnings_of(attempts, findings.temporal->left_out);
  report.notable = notable_of(findings, standing.faults, options.live);
  report.evidence = asked_files(state);
  report.read = summarise_reading(state);
  report.verdict.summary = summarise(report) + network_text(findings.network, report.verdict.state);
  if (!as_published) say_how_sure(built, scale, report);
  if (waited_for_nodes(report)) report_attendance(view, scale, report);
  name_deciders(view, known, report);
  return diagnosis;
}

Pool pool_of(const std::vector<const job::JobState*>& healthy_runs, const Options& options) {
  if (options.without.has(Part::cross_job)) return {};
  Pool pool = options.pool != nullptr ? *options.pool : Pool();
  for (const job::JobState* run : healthy_runs) {
    const job::Attempts attempts(*run);
    for (const std::int32_t attempt : attempts.numbers())
      add_run(pool, job::make_view(attempts, attempt, false));
  }
  return pool;
}

}  // namespace

Diagnosis diagnose(const job::JobState& state,
                   const std::vector<const job::JobState*>& healthy_runs, const Options& options) {
  const Pool pool = pool_of(healthy_runs, options);
  std::vector<std::int32_t> failed;
  std::vector<AttemptSummary> attempts;
  const job::Attempts numbered(state);
  L4_CHECK(!numbered.numbers().empty(), "job {} has no attempt", state.id());
  const std::int32_t newest = numbered.numbers().back();
  Options of_earlier = options;  // live data belongs to the running attempt
  of_earlier.live.reset();
  of_earlier.network = nullptr;
  for (const std::int32_t attempt : numbered.numbers()) {
    // A job that was run again by hand into the same files is reported for its last run alone.
    if (numbered.is_rerun(attempt)) failed.clear();
    if (attempt == newest) break;
    const Verdict verdict =
        diagnose_attempt(numbered, attempt, pool, of_earlier, Depth::verdict).report.verdict;
    attempts.push_back({attempt, verdict.state, verdict.since, verdict.iteration});
    if (has_suspects(verdict.state)) failed.push_back(attempt);
  }
  Diagnosis last = diagnose_attempt(numbered, newest, pool, options, Depth::whole);
  const Verdict& verdict = last.report.verdict;
  attempts.push_back({newest, verdict.state, verdict.since, verdict.iteration});
  if (!failed.empty() && !has_suspects(verdict.state))
    adopt_suspects(last, diagnose_attempt(numbered, failed.back(), pool, of_earlier, Depth::whole));
  last.report.job.attempts = std::move(attempts);
  last.report.scoring = options.scoring == Scoring::l4 ? "l4" : "paper";
  return last;
}

}  // namespace l4::diagnose
