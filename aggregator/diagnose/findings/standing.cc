#include "aggregator/diagnose/findings/standing.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "aggregator/diagnose/findings/pool.h"
#include "aggregator/faults/fault.h"
#include "aggregator/job/share.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/slow.h"

namespace l4::diagnose {
namespace {

using detect::FailureEvent;
using detect::Severity;

/// Null if the event tells of no such fault.
const faults::Fault* fault_of(const Findings& findings, bool failed, std::uint32_t event) {
  const detect::EventHint& hint = findings.hints.events[event];
  const auto& faults = findings.hints.faults[event];
  if (faults.empty() || hint.in_pool || hint.harmless || hint.general || hint.consequence)
    return nullptr;
  const bool reported =
      failed && std::ranges::any_of(findings.failures.events, [&](const FailureEvent& failure) {
        return failure.event == event;
      });
  const faults::Fault* fault = faults.front();
  return reported || fault->category != faults::Category::hardware ? nullptr : fault;
}

/// The event where `tells` holds of a node; without occurrences if it holds of none.
template <class Tells>
FailureEvent event_on(const job::JobView& view, std::uint32_t index, Tells tells) {
  FailureEvent found;
  found.event = index;
  found.severity = Severity::failure;
  const job::EventView& event = view.events[index];
  for (std::uint32_t i = 0; i < event.at.size(); ++i) {
    const job::Occurrence& at = event.at[i];
    if (!tells(view.streams[at.stream].node)) continue;
    const bool earlier =
        at.time && (!found.first_time || std::optional<TimeMs>(at.time) < found.first_time);
    if (found.occurrences.empty() || earlier) {
      found.first_stream = at.stream;
      found.first_line = at.first_line;
      found.first_time = found.placed = at.time;
    }
    found.occurrences.push_back(i);
  }
  return found;
}

}  // namespace

Standing find_standing(const Findings& findings, bool failed) {
  const job::JobView& view = findings.view;
  using Where = std::pair<std::uint32_t, std::string_view>;  // node, id of the fault
  std::map<Where, StandingFault> told;
  std::vector<std::pair<std::uint32_t, const faults::Fault*>> telling;  // events
  for (std::uint32_t i = 0; i < view.events.size(); ++i) {
    const faults::Fault* const fault = fault_of(findings, failed, i);
    if (fault == nullptr) continue;
    const auto counts = counts_by_node(view, view.events[i]);
    const auto without = static_cast<std::size_t>(std::ranges::count(counts, std::uint64_t{0}));
    const std::size_t nodes = counts.size() - without;
    if (nodes > 1 && !job::is_few(nodes, counts.size())) continue;
    telling.emplace_back(i, fault);
    for (std::uint32_t node = 0; node < counts.size(); ++node) {
      if (counts[node] == 0) continue;
      StandingFault& one = told.try_emplace({node, fault->id}, node, fault, 0U).first->second;
      one.lines += counts[node];
    }
  }
  Standing standing;
  std::erase_if(told, [](const auto& entry) {
    return entry.second.lines < numbers::slow().symptom_times_min;
  });
  for (const auto& [where, fault] : told) standing.faults.push_back(fault);
  for (const auto& [index, fault] : telling) {
    FailureEvent event =
        event_on(view, index, [&](std::uint32_t node) { return told.contains({node, fault->id}); });
    if (!event.occurrences.empty()) standing.events.events.push_back(std::move(event));
  }
  standing.events.worded = findings.failures.worded;
  standing.events.pooled = findings.failures.pooled;
  standing.events.note_failures();
  return standing;
}

}  // namespace l4::diagnose
