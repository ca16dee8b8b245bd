#include "aggregator/diagnose/findings/waiting.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "aggregator/detect/evidence/ending.h"
#include "aggregator/diagnose/findings/hints.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/share.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/verdict.h"
#include "common/base/earliest.h"

namespace l4::diagnose {
namespace {

using detect::FailureEvent;
using detect::Severity;

/// Longest time that an event of the failure says it waited for ("Timed out waiting 30000ms").
std::optional<Millis> waited_for(const Findings& findings) {
  std::optional<Millis> longest;
  for (const FailureEvent& failure : findings.failures.events) {
    if (!findings.hints.events[failure.event].waited) continue;
    const Millis waited = longest_duration(findings.view.events[failure.event]);
    if (waited > Millis{0}) longest = std::max(longest.value_or(waited), waited);
  }
  return longest;
}

/// Time from the last progress to `sign`.
std::optional<Millis> delay_to(const Findings& findings, const std::optional<TimeMs>& sign) {
  const auto progress = findings.clock.last_progress;
  if (!progress || !sign) return {};
  return std::max(Millis{0}, *sign - *progress);
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

/// Of one stream.
struct Sign {
  TimeMs at{};
  std::uint32_t rank = 0;
  auto operator<=>(const Sign&) const = default;
};

/// The signs of the failure that have times of their own and that no progress followed. A line that
/// tells of a stop or of the end of a process is none, nor is what follows a stop: nobody needs to
/// have waited for it.
std::vector<Sign> timed_signs(const Findings& findings) {
  std::vector<Sign> signs;
  const auto progress = findings.clock.last_progress;
  if (!progress) return signs;
  std::optional<TimeMs> stop;
  for (const FailureEvent& failure : findings.failures.events) {
    if (failure.severity < Severity::failure) continue;
    if (findings.hints.events[failure.event].stop) keep_earliest(stop, failure.placed);
    if (findings.hints.events[failure.event].stop || ends_process(findings, failure)) continue;
    for (const std::uint32_t i : failure.occurrences) {
      const job::Occurrence& at = findings.view.events[failure.event].at[i];
      if (at.exact && at.time && *at.time + numbers::verdict().passed_apart >= *progress)
        signs.push_back({*at.time, findings.view.streams[at.stream].rank});
    }
  }
  if (stop)
    std::erase_if(signs, [&](const Sign& sign) {
      return sign.at + numbers::verdict().passed_apart >= *stop;
    });
  std::ranges::sort(signs);
  return signs;
}

/// The longest time that ranks waited which said nothing until then, behind a rank that failed.
Millis peers_waited(const Findings& findings) {
  const std::vector<Sign> signs = timed_signs(findings);
  Millis longest{0};
  std::set<std::uint32_t> told;
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const bool is_new = told.insert(signs[i].rank).second;
    if (is_new && i > 0) longest = std::max(longest, signs[i].at - signs[i - 1].at);
  }
  return longest;
}

/// The batch system or a person stopped the job so long behind its last progress, of which the pace
/// is known. Who sends a bare signal is not known.
bool stood_until_stop(const Findings& findings, Millis least) {
  if (findings.clock.gap_max_ms <= 0) return false;
  return std::ranges::any_of(findings.failures.events, [&](const FailureEvent& failure) {
    const detect::EventHint& hint = findings.hints.events[failure.event];
    if (!hint.stop || hint.general || !is_timed(findings.view, failure)) return false;
    if (detect::hang::worked_until(findings.view, failure.first_stream, failure.first_line))
      return false;
    const auto delay = delay_to(findings, failure.placed);
    return delay && *delay >= least;
  });
}

/// The failure that came first; null if nothing failed.
const FailureEvent* first_failure(const Findings& findings) {
  for (const FailureEvent& failure : findings.failures.events)  // by place
    if (failure.severity >= Severity::failure) return &failure;
  return nullptr;
}

/// The program worked on behind its last iteration, until a line tells of a failure of its own.
bool failed_at_work(const Findings& findings) {
  const FailureEvent* const first = first_failure(findings);
  return first != nullptr && !findings.hints.events[first->event].is_echo() &&
         detect::hang::worked_until(findings.view, first->first_stream, first->first_line);
}

/// The shortest pause before a failure that is a wait.
Millis least_wait(const Findings& findings) {
  const double gap = findings.clock.gap_max_ms;
  return std::max(gap > 0 ? numbers::verdict().wait_min : numbers::verdict().wait_min_unpaced,
                  Millis{static_cast<std::int64_t>(numbers::verdict().wait_gaps * gap)});
}

/// The stream that failed first says itself that it waited long, before any process is said to have
/// ended: a program that still tells of its wait was there.
bool waited_first(const Findings& findings) {
  std::optional<std::uint32_t> first;                             // stream
  for (const FailureEvent& failure : findings.failures.events) {  // by place
    if (failure.severity < Severity::failure) continue;
    if (!first) first = failure.first_stream;
    const detect::EventHint& hint = findings.hints.events[failure.event];
    if (failure.first_stream != *first || ends_process(findings, failure)) return false;
    if (hint.waited)
      return !hint.setup && longest_duration(findings.view.events[failure.event]) >=
                                numbers::verdict().wait_min_unpaced;
  }
  return false;
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

/// The first sign is that a peer is gone, and nothing waited: its end may be noticed late.
bool missed_a_peer(const Findings& findings, Millis delay) {
  const FailureEvent* const first = first_failure(findings);
  return delay < numbers::verdict().stood_min && first != nullptr &&
         findings.hints.events[first->event].accuses_peer && nothing_waited(findings);
}

}  // namespace

std::optional<Millis> delay_to_failure(const Findings& findings) {
  return delay_to(findings, findings.failures.first_failure ? findings.failures.first_failure
                                                            : findings.processes.first_left);
}

bool began_as_hang(const Findings& findings) {
  const auto first = delay_to_failure(findings);
  if (!first || findings.clock.loose) return waited_first(findings);
  const Millis pause = least_wait(findings);
  const Millis echo = std::max(numbers::verdict().echo_wait, pause);
  if (stood_until_stop(findings, std::max(numbers::verdict().stood_min, pause))) return true;
  if (was_left_waiting(findings, pause)) return false;
  if (missed_a_peer(findings, *first)) return false;
  const bool at_work = failed_at_work(findings);
  if (at_work && *first >= pause) return false;
  if (peers_waited(findings) >= echo) return true;
  if (at_work || failed_at_unknown_time(findings)) return false;
  const auto waited = waited_for(findings);
  if (waited && *first >= *waited * numbers::verdict().waited_percent / 100) return true;
  // Behind its last iteration nothing was to come but the end of the job.
  const double times = failed_at_once(findings, pause) ? numbers::verdict().wait_times_at_once : 1;
  const bool stood =
      static_cast<double>(first->count()) >= times * static_cast<double>(pause.count()) ||
      longest_pause(findings) >= echo;
  if (stood && !findings.endings.complete) return true;
  const auto last = delay_to(findings, findings.failures.last_failure);
  return waited && last && *last >= pause &&
         *last >= *waited * numbers::verdict().waited_percent / 100;
}

bool stands_unended(const Findings& findings) {
  const detect::hang::Silence& silence = findings.silence;
  if (!silence.overdue || !silence.last_activity || findings.endings.ended()) return false;
  if (findings.processes.first_left || findings.processes.exit_seen) return false;
  const Millis quiet = silence.stalled_for;
  if (quiet < numbers::verdict().echo_wait || quiet > numbers::verdict().unended_most) return false;
  std::set<std::uint32_t> ranks;
  for (const FailureEvent& failure : findings.failures.events) {
    if (failure.severity < Severity::failure) continue;
    const detect::EventHint& hint = findings.hints.events[failure.event];
    if (hint.stop || ends_process(findings, failure)) return false;
    for (const std::uint32_t i : failure.occurrences)
      ranks.insert(findings.view.streams[findings.view.events[failure.event].at[i].stream].rank);
  }
  const std::size_t all = findings.view.training_ranks();
  return all >= numbers::verdict().unended_of_min && job::is_few(ranks.size(), all);
}

bool stood_before_stop(const Findings& findings) {
  const auto delay = delay_to_failure(findings);
  return delay && *delay >= numbers::verdict().stood_min && findings.clock.gap_max_ms > 0;
}

bool is_too_young_to_wait(const Findings& findings) {
  const auto& begin = findings.view.begin;
  const auto& last = findings.failures.last_failure;
  if (!findings.failures.fatal || !begin || !last) return false;
  if (*last - *begin >= numbers::verdict().wait_min_unpaced) return false;
  const auto waited = waited_for(findings);
  return !waited || *waited > *last - *begin;
}

double nearness_to_wait(const Findings& findings) {
  const auto delay = delay_to_failure(findings);
  if (!delay || *delay <= Millis{0}) return 0;
  const double times =
      static_cast<double>(delay->count()) / static_cast<double>(least_wait(findings).count());
  return std::min(times, 1 / times);
}

}  // namespace l4::diagnose
