#include "aggregator/diagnose/findings/waiting.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "aggregator/detect/evidence/ending.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/verdict.h"

namespace l4::diagnose {
namespace {

using detect::FailureEvent;
using detect::Severity;

/// Longest time that an event of the failure says it waited for ("Timed out waiting 30000ms").
std::optional<Millis> waited_for(const Findings& findings) {
  std::optional<Millis> longest;
  for (const FailureEvent& failure : findings.failures.events) {
    if (!findings.hints.events[failure.event].waited) continue;
    for (const job::ParameterSeen& seen : findings.view.events[failure.event].parameters)
      for (const wire::Parameter& value : seen.values) {
        if (value.kind != wire::ParameterKind::duration_ms) continue;
        std::int64_t ms = 0;
        std::from_chars(value.value.data(), value.value.data() + value.value.size(), ms);
        if (ms > 0 && (!longest || Millis{ms} > *longest)) longest = Millis{ms};
      }
  }
  return longest;
}

/// Time from the last progress to `sign`.
std::optional<Millis> delay_to(const Findings& findings, const std::optional<TimeMs>& sign) {
  const auto progress = findings.clock.last_progress;
  if (!progress || !sign) return {};
  return std::max(Millis{0}, *sign - *progress);
}

/// The first failure says itself that it waited long, and nothing tells of another reason.
bool waited_first(const Findings& findings) {
  for (const FailureEvent& failure : findings.failures.events) {  // by place
    if (failure.severity < Severity::failure) continue;
    const auto waited = waited_for(findings);
    const detect::EventHint& hint = findings.hints.events[failure.event];
    return hint.waited && !hint.setup && waited && *waited >= numbers::verdict().wait_min_unpaced;
  }
  return false;
}

/// Longest pause between two signs of the failure: after the first sign the other ranks printed
/// only when their own wait was over.
Millis longest_pause(const Findings& findings) {
  Millis longest{0};
  std::optional<TimeMs> before;
  for (const FailureEvent& failure : findings.failures.events) {  // by place
    if (!failure.placed || failure.severity < Severity::failure) continue;
    if (before) longest = std::max(longest, *failure.placed - *before);
    before = failure.placed;
  }
  return longest;
}

/// The program worked on behind its last iteration, until a line tells of a failure of its own.
bool failed_at_work(const Findings& findings) {
  for (const FailureEvent& failure : findings.failures.events)
    if (failure.severity >= Severity::failure)
      return !findings.hints.events[failure.event].is_echo() &&
             detect::hang::worked_until(findings.view, failure.first_stream, failure.first_line);
  return false;
}

/// The shortest pause before a failure that is a wait.
Millis least_wait(const Findings& findings) {
  const double gap = findings.clock.gap_max_ms;
  return std::max(gap > 0 ? numbers::verdict().wait_min : numbers::verdict().wait_min_unpaced,
                  Millis{static_cast<std::int64_t>(numbers::verdict().wait_gaps * gap)});
}

/// The first line of the failure has a time of its own.
bool is_timed(const job::JobView& view, const FailureEvent& failure) {
  const job::EventView& event = view.events[failure.event];
  return std::ranges::any_of(failure.occurrences, [&](const std::uint32_t i) {
    const job::Occurrence& at = event.at[i];
    return at.exact && at.stream == failure.first_stream && at.first_line == failure.first_line;
  });
}

/// A launcher says that a process ended. An exception alone does not: others may wait for a process
/// that has failed and is still there.
bool ends_process(const Findings& findings, const FailureEvent& failure) {
  const detect::EventHint& hint = findings.hints.events[failure.event];
  if (hint.stop || hint.in_pool) return false;
  const std::string_view text = findings.view.events[failure.event].text;
  return detect::exit_code_in(text).value_or(0) != 0;
}

/// A process ended before anything waited long: what comes later is how long
/// its peers waited for it. `pause`: least_wait().
bool was_left_waiting(const Findings& findings, Millis pause) {
  std::optional<TimeMs> before;
  for (const FailureEvent& failure : findings.failures.events) {  // by place
    if (failure.severity < Severity::failure) continue;
    if (!failure.placed || findings.hints.events[failure.event].waited) return false;
    if (before && *failure.placed - *before >= pause) return false;
    before = failure.placed;
    if (!ends_process(findings, failure)) continue;
    // A line without a time of its own may stand anywhere behind the last progress.
    const auto delay = delay_to(findings, failure.placed);
    if (!is_timed(findings.view, failure) || (delay && *delay < pause)) return true;
  }
  return false;
}

/// Nothing that failed says that it waited.
bool nothing_waited(const Findings& findings) {
  return std::ranges::none_of(findings.failures.events, [&](const FailureEvent& failure) {
    return failure.severity >= Severity::failure && findings.hints.events[failure.event].waited;
  });
}

/// Nothing waited, and all that failed did so at once, up to the exit of a process.
bool failed_at_once(const Findings& findings, Millis pause) {
  const auto ends = [&](const FailureEvent& failure) {
    return failure.severity >= Severity::failure && ends_process(findings, failure);
  };
  return findings.failures.fatal && nothing_waited(findings) &&
         std::ranges::any_of(findings.failures.events, ends) && longest_pause(findings) < pause;
}

/// Nothing waited, and the cause that came first has no time of its own: it may have come at once.
bool failed_at_unknown_time(const Findings& findings) {
  const auto& events = findings.failures.events;  // by place
  const auto first = std::ranges::find_if(events, [&](const FailureEvent& failure) {
    return failure.severity == Severity::fatal && !findings.hints.events[failure.event].is_echo();
  });
  return first != events.end() && !is_timed(findings.view, *first) && nothing_waited(findings);
}

}  // namespace

std::optional<Millis> delay_to_failure(const Findings& findings) {
  return delay_to(findings, findings.failures.first_failure ? findings.failures.first_failure
                                                            : findings.processes.first_left);
}

bool began_as_hang(const Findings& findings) {
  const auto first = delay_to_failure(findings);
  if (!first) return waited_first(findings);
  if (failed_at_work(findings) || failed_at_unknown_time(findings)) return false;
  const Millis pause = least_wait(findings);
  if (was_left_waiting(findings, pause)) return false;
  const auto waited = waited_for(findings);
  if (waited && *first >= *waited * numbers::verdict().waited_percent / 100) return true;
  // Behind its last iteration nothing was to come but the end of the job.
  const double times = failed_at_once(findings, pause) ? numbers::verdict().wait_times_at_once : 1;
  const bool stood =
      static_cast<double>(first->count()) >= times * static_cast<double>(pause.count()) ||
      longest_pause(findings) >= std::max(numbers::verdict().echo_wait, pause);
  if (stood && !findings.endings.complete) return true;
  const auto last = delay_to(findings, findings.failures.last_failure);
  return waited && last && *last >= pause &&
         *last >= *waited * numbers::verdict().waited_percent / 100;
}

bool stood_before_stop(const Findings& findings) {
  const auto delay = delay_to_failure(findings);
  return delay && *delay >= numbers::verdict().stood_min && findings.clock.gap_max_ms > 0;
}

double nearness_to_wait(const Findings& findings) {
  const auto delay = delay_to_failure(findings);
  if (!delay || *delay <= Millis{0}) return 0;
  const double times =
      static_cast<double>(delay->count()) / static_cast<double>(least_wait(findings).count());
  return std::min(times, 1 / times);
}

}  // namespace l4::diagnose
