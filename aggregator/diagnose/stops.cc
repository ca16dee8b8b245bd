#include "aggregator/diagnose/stops.h"

#include <algorithm>
#include <string_view>

#include "aggregator/diagnose/findings/hints.h"
#include "aggregator/faults/fault.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"

namespace l4::diagnose {
namespace {

using detect::FailureEvent;
using detect::Severity;

/// Within a file lines tell the order, else times; an event without a time stands where the list
/// has it.
bool precedes(const job::JobView& view, const FailureEvent& a, const FailureEvent& b) {
  const job::StreamView& in_a = view.streams[a.first_stream];
  const job::StreamView& in_b = view.streams[b.first_stream];
  if (in_a.log() == in_b.log()) return a.first_line < b.first_line;
  return a.first_time && b.first_time && *a.first_time < *b.first_time;
}

/// A signal is the means by which a stop ends a process, and its words say nothing of the reason.
bool names_signal(const Hints& hints, const FailureEvent& failure) {
  constexpr std::string_view kFamily = "signals";
  const auto& faults = hints.faults[failure.event];
  return !faults.empty() && faults.front()->family == kFamily;
}

bool is_cause(const Hints& hints, const FailureEvent& failure) {
  const detect::EventHint& hint = hints.events[failure.event];
  return failure.severity == Severity::fatal && !hint.is_echo() && !hint.mild && !hint.stop &&
         !names_signal(hints, failure);
}

}  // namespace

void order_stops(const job::JobView& view, const detect::FailureEvents& failures, Hints& hints) {
  const auto is_stop = [&](const FailureEvent& failure) {
    const detect::EventHint& hint = hints.events[failure.event];
    return hint.stop && !hint.consequence;
  };
  const auto stop = std::ranges::find_if(failures.events, is_stop);
  if (stop == failures.events.end()) return;
  const bool caused = std::ranges::any_of(failures.events, [&](const FailureEvent& failure) {
    return is_cause(hints, failure) && precedes(view, failure, *stop);
  });
  for (const FailureEvent& failure : failures.events) {
    detect::EventHint& hint = hints.events[failure.event];
    if (hint.stop == caused) hint.consequence = true;
  }
}

}  // namespace l4::diagnose
