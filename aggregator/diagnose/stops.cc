#include "aggregator/diagnose/stops.h"

#include <algorithm>
#include <string_view>

#include "aggregator/diagnose/findings/hints.h"
#include "aggregator/faults/fault.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/diagnose.h"

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

/// The program that speaks, as batch systems and kernels name themselves before the first colon.
std::string_view reporter_of(const job::JobView& view, const FailureEvent& failure) {
  const std::string_view text = view.events[failure.event].text;
  return text.substr(0, std::min(text.find(':'), text.size()));
}

/// One program tells of one end in several lines: their order means nothing.
bool is_told_with(const job::JobView& view, const FailureEvent& a, const FailureEvent& b) {
  const std::uint64_t lines = numbers::diagnose().told_with_lines;
  const bool near =
      std::max(a.first_line, b.first_line) - std::min(a.first_line, b.first_line) <= lines;
  return near && view.streams[a.first_stream].log() == view.streams[b.first_stream].log() &&
         reporter_of(view, a) == reporter_of(view, b);
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

/// srun cancels its own step when a task fails; of a job that somebody cancels the batch system
/// tells as well.
bool is_of_step_alone(const job::JobView& view, const detect::FailureEvents& failures,
                      const FailureEvent& stop) {
  const auto says = [&](const FailureEvent& failure, std::string_view what) {
    return view.events[failure.event].text.contains(what);
  };
  return says(stop, "*** STEP ") &&
         std::ranges::none_of(failures.events, [&](const FailureEvent& failure) {
           return says(failure, "*** JOB ");
         });
}

}  // namespace

void order_stops(const job::JobView& view, const detect::FailureEvents& failures, Hints& hints) {
  const auto is_stop = [&](const FailureEvent& failure) {
    const detect::EventHint& hint = hints.events[failure.event];
    return hint.stop && !hint.consequence;
  };
  // A batch system that ends a job at its limit may say first that the job was cancelled.
  const auto says = [&](const FailureEvent& failure, std::string_view subcategory) {
    const auto& faults = hints.faults[failure.event];
    return is_stop(failure) && !faults.empty() && faults.front()->subcategory == subcategory;
  };
  for (const FailureEvent& person : failures.events)
    if (says(person, "misoperation") &&
        std::ranges::any_of(failures.events, [&](const FailureEvent& limit) {
          return says(limit, "resource") && is_told_with(view, limit, person);
        }))
      hints.events[person.event].consequence = true;
  const auto stop = std::ranges::find_if(failures.events, is_stop);
  if (stop == failures.events.end()) return;
  const bool step = is_of_step_alone(view, failures, *stop);
  const bool caused = std::ranges::any_of(failures.events, [&](const FailureEvent& failure) {
    if (!is_cause(hints, failure)) return false;
    // What the hardware did wrong no stop does to a program, wherever it stands.
    const auto& faults = hints.faults[failure.event];
    const bool hardware = !faults.empty() && faults.front()->category == faults::Category::hardware;
    return precedes(view, failure, *stop) || (step && hardware && !precedes(view, *stop, failure));
  });
  for (const FailureEvent& failure : failures.events) {
    detect::EventHint& hint = hints.events[failure.event];
    if (hint.stop == caused) hint.consequence = true;
  }
}

}  // namespace l4::diagnose
