#include <algorithm>
#include <cmath>

#include "aggregator/diagnose/certainty.h"
#include "aggregator/job/share.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"

namespace l4::diagnose {
namespace {

using detect::FailureEvent;

/// Something as severe was seen earlier.
bool has_earlier(const Built& built, const FailureEvent& first) {
  return std::ranges::any_of(built.findings.failures.events, [&](const FailureEvent& other) {
    return other.severity >= first.severity && other.placed && first.placed &&
           *other.placed < *first.placed;
  });
}

}  // namespace

clues::Grounds event_grounds(const Built& built, const Report& report) {
  using enum clues::GroundKind;
  const IndicatingEvent& event = report.events.front();
  const detect::FailureEvents& failures = built.findings.failures;
  const auto found = std::ranges::find_if(failures.events, [&](const FailureEvent& failure) {
    return built.findings.view.events[failure.event].id == event.id;
  });
  if (found == failures.events.end()) return {{event_base}};
  const detect::EventHint& hint = built.findings.hints.events[found->event];
  const auto rivals = std::ranges::count_if(report.events, [&](const IndicatingEvent& other) {
    return other.role == event.role && &other != &event;
  });
  const bool of_first =
      !report.nodes.empty() &&
      std::ranges::find(event.nodes, report.nodes.front().node) != event.nodes.end();
  return {
      {event_base},
      {event_fatal, clues::flag(found->severity == detect::Severity::fatal)},
      {event_quiet, clues::flag(found->severity < detect::Severity::failure)},
      {event_known, clues::flag(hint.known_fault)},
      {event_general, clues::flag(hint.general)},
      {event_coded, clues::flag(hint.coded)},
      {event_by_words, clues::flag(hint.by_words)},
      {event_echo, clues::flag(hint.is_echo())},
      {event_after, clues::flag(event.role == Role::consequence)},
      {event_earliest, clues::flag(!has_earlier(built, *found))},
      {event_of_first, clues::flag(of_first)},
      {event_few_nodes,
       clues::flag(job::is_few(event.nodes.size(), built.findings.view.nodes.size()))},
      {event_rivals, std::log1p(static_cast<double>(rivals))},
      {event_wraps, clues::flag(found->follows)},
      {event_compared, clues::flag(failures.compared)},
      {event_unread, clues::flag(!failures.worded)},
      {event_pooled, clues::flag(failures.pooled)},
  };
}

}  // namespace l4::diagnose
