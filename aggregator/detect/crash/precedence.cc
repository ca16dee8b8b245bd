#include "aggregator/detect/crash/precedence.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "aggregator/detect/evidence/ending.h"
#include "aggregator/detect/evidence/wording.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/crash.h"

namespace l4::detect::crash {
namespace {

/// Says what happened.
bool is_precise(const FailureEvent& event, const EventHint& hint) {
  return event.severity >= Severity::failure && !hint.is_echo() && !hint.general && !hint.mild &&
         !hint.by_words && !hint.in_pool;
}

job::Log log_of(const job::JobView& view, const FailureEvent& event) {
  return view.streams[event.first_stream].log();
}

std::uint64_t lines_between(const FailureEvent& a, const FailureEvent& b) {
  return std::max(a.first_line, b.first_line) - std::min(a.first_line, b.first_line);
}

/// `inner` is what the wrapper carries: the exception that begins on its next line, or a code in
/// the same message.
bool is_carried(const job::JobView& view, const std::vector<EventHint>& hints,
                const FailureEvent& inner, const FailureEvent& wrapper) {
  const EventHint& hint = hints[inner.event];
  if (inner.severity == Severity::fatal && !hint.by_words && !hint.general && !hint.in_pool &&
      log_of(view, inner) == log_of(view, wrapper) && inner.first_line == wrapper.first_line + 1)
    return true;
  return hint.coded && !hint.general && !hint.in_pool &&
         log_of(view, inner) == log_of(view, wrapper) &&
         lines_between(inner, wrapper) <= numbers::crash().block_lines;
}

/// An exception left the program before: the destructors that run meanwhile may throw, too.
bool died_before(const std::vector<EventHint>& hints, const FailureEvent& cause,
                 const FailureEvent& event) {
  const EventHint& hint = hints[cause.event];
  return is_precise(cause, hint) && !hint.dying && cause.severity == Severity::fatal &&
         cause.first_stream == event.first_stream && cause.first_line < event.first_line &&
         lines_between(cause, event) <= numbers::crash().stack_lines;
}

/// The name of an exception whose message stands on the lines below it: "MemoryError:".
bool is_name_alone(std::string_view text) {
  return text.ends_with(':') && !text.contains(' ') && says_at_front(text);
}

/// Such a message, and not the same exception of another process.
bool is_below(const job::JobView& view, const std::vector<EventHint>& hints,
              const FailureEvent& below, const FailureEvent& name) {
  std::string_view text = view.events[name.event].text;
  text.remove_suffix(1);
  return !view.events[below.event].text.contains(text) && below.severity >= Severity::failure &&
         !hints[below.event].is_echo() && log_of(view, below) == log_of(view, name) &&
         below.first_line > name.first_line &&
         lines_between(name, below) <= numbers::crash().stack_lines;
}

/// `before` stands shortly before `behind` in its log.
bool is_just_before(const job::JobView& view, const FailureEvent& before,
                    const FailureEvent& behind) {
  return log_of(view, before) == log_of(view, behind) && before.first_line < behind.first_line &&
         lines_between(before, behind) <= numbers::crash().block_lines;
}

/// A launcher says that a process ended by itself: by an exit code, or by a signal with which
/// nobody asks a process to end ("task 0: Aborted (core dumped)").
bool tells_of_end(std::string_view text) {
  constexpr std::array<std::string_view, 4> kSignals{"(core dumped)", ": Segmentation fault",
                                                     ": Bus error", ": Aborted"};
  return exit_code_in(text).value_or(0) != 0 ||
         std::ranges::any_of(kSignals, [&](std::string_view one) { return text.contains(one); });
}

/// A launcher ends the others once it has said that a process ended by itself: nobody else did.
bool stops_the_rest(const job::JobView& view, const FailureEvent& ended, const FailureEvent& stop) {
  return tells_of_end(view.events[ended.event].text) && is_just_before(view, ended, stop);
}

/// "Terminating unresponsive rank 6, signal SIGKILL": a monitor says that it kills a process, and
/// the exit by this signal tells nothing else.
bool announces_kill(const job::JobView& view, const FailureEvent& announced,
                    const FailureEvent& killed) {
  const std::string_view text = view.events[announced.event].text;
  const bool ends = text.contains("erminating") || text.contains("illing") ||
                    text.contains("Sent ") || text.contains("ending ");
  return ends && text.contains("SIGKILL") && is_just_before(view, announced, killed);
}

/// The exit code that a text reports is that of SIGKILL.
bool was_killed(std::string_view text) {
  constexpr int kKilled = -9, kKilledOfShell = 137;
  const auto code = exit_code_in(text);
  return code == kKilled || code == kKilledOfShell;
}

struct Order {
  bool near = false;   ///< both belong to one failure, as far as is known
  bool first = false;  ///< the first of both is not the later one
};

Order order_of(const job::JobView& view, const FailureEvent& a, const FailureEvent& b) {
  const bool one_log = log_of(view, a) == log_of(view, b);
  if (one_log && lines_between(a, b) <= numbers::crash().stack_lines)
    return {true, a.first_line <= b.first_line};
  if (a.placed && b.placed) {
    const Millis later = *b.placed - *a.placed;
    return {std::chrono::abs(later) <= numbers::crash().report_within,
            later >= -numbers::crash().clocks_apart};
  }
  return {!one_log, false};
}

}  // namespace

void settle_precedence(const job::JobView& view, const std::vector<EventHint>& hints,
                       std::vector<FailureEvent>& events) {
  for (FailureEvent& event : events) {
    const EventHint& own = hints[event.event];
    const bool name_alone = is_name_alone(view.events[event.event].text);
    const bool killed = was_killed(view.events[event.event].text);
    if (!own.general && !own.dying && !own.stop && !name_alone && !killed) continue;
    event.follows = std::ranges::any_of(events, [&](const FailureEvent& other) {
      if (name_alone && is_below(view, hints, other, event)) return true;
      if (killed && announces_kill(view, other, event)) return true;
      if (own.stop && stops_the_rest(view, other, event)) return true;
      if (own.dying && died_before(hints, other, event)) return true;
      if (!own.general) return false;
      if (is_carried(view, hints, other, event)) return true;
      const EventHint& hint = hints[other.event];
      if (!is_precise(other, hint)) return false;
      const Order order = order_of(view, other, event);
      // A line that no entry knows may be another consequence, unless it came first.
      return order.near && (hint.known_fault || order.first);
    });
  }
}

}  // namespace l4::detect::crash
