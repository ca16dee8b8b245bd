#include "aggregator/diagnose/detectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "aggregator/detect/crash/failure_events.h"
#include "aggregator/detect/delay/late_starts.h"
#include "aggregator/detect/delay/phases.h"
#include "aggregator/detect/delay/stalls.h"
#include "aggregator/detect/slow/symptoms.h"
#include "aggregator/diagnose/findings/pool.h"
#include "aggregator/diagnose/node_evidence.h"
#include "aggregator/diagnose/verdict.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/diagnose.h"
#include "aggregator/numbers/slow.h"
#include "common/base/check.h"

namespace l4::diagnose {
namespace {

void detect_crash(const Attempt& attempt, Findings& findings) {
  findings.failures = detect::crash::find_failure_events(
      findings.view, findings.clock, findings.hints.events,
      {attempt.pool.runs > 0, !attempt.options.without.has(Part::wording)});
}

/// If healthy runs print no line about their end, a short silence may be the end of this run.
detect::hang::Options hang_options(const Attempt& attempt) {
  detect::hang::Options hang = attempt.options.hang;
  if (attempt.pool.runs > 0 && attempt.pool.wordless == attempt.pool.runs)
    hang.floor_min = hang.floor;
  if (const auto& live = attempt.options.live; live && live->progress)
    hang.watched = {std::max(Millis{0}, attempt.now.time - *live->progress), live->deadline,
                    live->overdue};
  return hang;
}

/// Some line says that something failed or was waited for in vain. New lines that only the
/// comparison sets apart say nothing, where words count.
bool has_failure(const Findings& findings) {
  const detect::FailureEvents& found = findings.failures;
  if (found.compared && found.worded && !found.pooled) return false;
  return std::ranges::any_of(findings.failures.events, [&](const detect::FailureEvent& event) {
    const detect::EventHint& hint = findings.hints.events[event.event];
    return hint.waited || (event.severity >= detect::Severity::failure && !hint.only_warns());
  });
}

void detect_hang(const Attempt& attempt, Findings& findings) {
  findings.silence = detect::hang::find_silence(findings.view, findings.clock, attempt.now.time,
                                                hang_options(attempt));
  if (attempt.now.known || !findings.silence.overdue) return;
  // Only the logs themselves tell how long nothing was completed. Lines that are weeks younger than
  // the last progress belong to another run or another clock.
  const bool other_run = findings.silence.stalled_for > numbers::diagnose().one_job;
  const auto& silence = findings.silence;
  const TimeMs expected = attempt.now.time - silence.stalled_for + silence.deadline;
  const bool works =
      !has_failure(findings) && (detect::hang::goes_on(findings.view, findings.clock) ||
                                 detect::hang::ends_behind_pause(findings.view, expected));
  findings.silence.overdue = !other_run && !works;
}

/// Rates are the inverse of durations: what counts as slow for these does so for them.
std::optional<detect::slow::RateFall> rate_fall(const job::JobView& view) {
  const detect::slow::Options slow;
  detect::figures::Options figures;
  figures.values_min = static_cast<std::uint32_t>(slow.after_min);
  figures.rate_ratio_max = 1 / slow.ratio_min;
  const auto fall = detect::figures::find_rate_fall(view, figures);
  if (!fall) return std::nullopt;
  return detect::slow::RateFall{fall->from, fall->ratio};
}

/// Healthy runs become as slow, or half as slow, and were given or kept to be compared with.
bool is_usual(const Pool& pool, const detect::slow::Slowdown& slowdown) {
  return pool.slowed > 1 &&
         std::log(pool.slowed) >= numbers::slow().healthy_share * std::log(slowdown.ratio);
}

void find_slowness(Findings& findings) {
  findings.slowdown = detect::slow::find_slowdown(findings.view, findings.clock);
  if (findings.slowdown.found) return;
  if (const auto fall = rate_fall(findings.view))
    findings.slowdown = detect::slow::find_slowdown(findings.view, findings.clock, {}, fall);
  if (!findings.slowdown.found)
    findings.slowdown =
        detect::slow::find_short_slowdown(findings.view, findings.clock, findings.hints.events);
}

void detect_slow(const Attempt& attempt, Findings& findings) {
  if (attempt.options.without.has(Part::durations)) return;
  find_slowness(findings);
  if (findings.slowdown.found && is_usual(attempt.pool, findings.slowdown)) findings.slowdown = {};
}

void detect_stages(const Attempt& /*attempt*/, Findings& findings) {
  findings.stages = detect::stage::find_stages(findings.view, findings.clock);
}

void detect_ending(const Attempt& /*attempt*/, Findings& findings) {
  findings.endings = detect::ending::find_endings(findings.view, findings.clock);
}

void weigh_network(const Attempt& attempt, Findings& findings) {
  if (attempt.options.network == nullptr) return;
  findings.network = detect::network::bear(findings.view, findings.clock, findings.silence,
                                           *attempt.options.network,
                                           {attempt.now.time, findings.endings.short_of});
}

void weigh_exits(const Attempt& /*attempt*/, Findings& findings) {
  L4_CHECK(findings.stages.last_of_rank.size() == findings.view.ranks.size(),
           "stages of {} ranks are known, not of {}", findings.stages.last_of_rank.size(),
           findings.view.ranks.size());
  findings.processes = weigh_processes(findings.view, findings.stages);
}

void detect_figures(const Attempt& /*attempt*/, Findings& findings) {
  findings.figures = detect::figures::find_changes(findings.view);
}

void detect_delays(const Attempt& attempt, Findings& findings) {
  if (attempt.options.without.has(Part::durations)) return;
  const auto add = [&](std::vector<detect::delay::Delay> more) {
    std::ranges::move(more, std::back_inserter(findings.delays));
  };
  add(detect::delay::find_stalls(findings.view, findings.clock));
  add(detect::delay::find_slow_phases(findings.view, findings.clock.gap_median_ms));
  add(detect::delay::find_late_starts(findings.view));
}

void detect_nics(const Attempt& /*attempt*/, Findings& findings) {
  findings.nics = detect::nics::find_nics(findings.view);
}

void detect_symptoms(const Attempt& attempt, Findings& findings) {
  if (attempt.state == State::slow)
    findings.failures = detect::slow::find_symptoms(findings.view, findings.clock,
                                                    findings.slowdown, findings.hints.events);
}

/// Where nothing failed before a process was gone, what shows that it is gone is all there is.
/// Beside mere consequences stands what tells why.
void add_signs_of_end(const Attempt& attempt, Findings& findings) {
  if (attempt.state != State::crashed) return;
  std::vector<detect::FailureEvent>& events = findings.failures.events;
  const auto fails = [](const detect::FailureEvent& event) {
    return event.severity >= detect::Severity::failure;
  };
  const bool failure = std::ranges::any_of(events, fails);
  const bool caused = std::ranges::any_of(events, [&](const detect::FailureEvent& event) {
    return fails(event) && !findings.hints.events[event.event].consequence;
  });
  if (caused) return;
  for (const detect::FailureEvent& sign : findings.endings.signs) {
    if (failure && !fails(sign)) continue;
    std::erase_if(events, [&](const auto& event) { return event.event == sign.event; });
    events.push_back(sign);
    events.back().severity = detect::Severity::failure;
  }
}

void compare_nodes(const Attempt& attempt, Findings& findings) {
  if (attempt.options.without.has(Part::forest)) return;
  const detect::FailureEvents& events =
      findings.failures.events.empty() ? findings.apart : findings.failures;
  findings.spatial =
      compare_nodes_by_failure(findings.view, findings.hints, events, attempt.options.seed);
}

void compare_windows(const Attempt& attempt, Findings& findings) {
  if (attempt.options.without.has(Part::forest)) return;
  detect::spatial::RollingOptions options;
  options.seed = attempt.options.seed;
  if (attempt.pool.runs > 0)
    for (const detect::EventHint& hint : findings.hints.events)
      options.in_pool.push_back(hint.in_pool ? 1 : 0);
  findings.differences =
      detect::spatial::compare_by_windows(findings.view, findings.clock, options);
}

void compare_sequences(const Attempt& attempt, Findings& findings) {
  findings.sequences =
      detect::temporal::collect_sequences(findings.view, findings.clock, attempt.options.without);
  const bool ended = has_suspects(attempt.state) && attempt.state != State::slow;
  findings.temporal = detect::temporal::compare_iterations(
      findings.sequences, findings.hints.events, ended, attempt.options.seed);
  if (!attempt.options.without.has(Part::dtw))
    findings.turns = detect::temporal::find_turns(findings.view);
}

/// The detectors in the order in which they run: `processes` needs the stages, `spatial` the
/// symptoms.
constexpr std::array kDetectors{
    Detector{"crash", Step::seen, detect_crash},
    Detector{"hang", Step::seen, detect_hang},
    Detector{"slow", Step::seen, detect_slow},
    Detector{"stage", Step::seen, detect_stages},
    Detector{"ending", Step::seen, detect_ending},
    Detector{"processes", Step::seen, weigh_exits},
    Detector{"network", Step::seen, weigh_network},
    Detector{"signs_of_end", Step::compared, add_signs_of_end},
    Detector{"figures", Step::compared, detect_figures},
    Detector{"delays", Step::compared, detect_delays},
    Detector{"symptoms", Step::compared, detect_symptoms},
    Detector{"spatial", Step::compared, compare_nodes},
    Detector{"windows", Step::compared, compare_windows},
    Detector{"temporal", Step::compared, compare_sequences},
    Detector{"nics", Step::compared, detect_nics},
};
static_assert(std::ranges::is_sorted(kDetectors, {}, &Detector::step));

}  // namespace

std::span<const Detector> detectors() {
  return kDetectors;
}

void run_detectors(Step step, const Attempt& attempt, Findings& findings) {
  for (const Detector& detector : detectors())
    if (detector.step == step) detector.run(attempt, findings);
}

}  // namespace l4::diagnose
