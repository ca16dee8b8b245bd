#include "aggregator/confirm/told_event.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "aggregator/diagnose/exit_evidence.h"
#include "aggregator/faults/distil.h"

namespace l4::confirm {
namespace {

using diagnose::IndicatingEvent;
using diagnose::Why;

/// How well an event describes the failure; smaller is better, nothing if it says too little.
std::optional<int> rank_of(const diagnose::Report& report, const IndicatingEvent& event,
                           const faults::Library& library) {
  const auto is = [&](Why why) { return std::ranges::find(event.why, why) != event.why.end(); };
  const faults::Fault* known = known_as(library, event);
  if (known != nullptr && known->severity == Level::info) return std::nullopt;
  const bool follows = event.role == Role::consequence || (known != nullptr && known->consequence);
  if (follows && !(is(Why::fatal) && is(Why::spatial) && !is(Why::accused))) return std::nullopt;
  const auto made =
      faults::distil(event.text, names_of(report, event), diagnose::parameters_of(event));
  if (made.pattern.empty()) return std::nullopt;
  if (made.characters < faults::kConstantMin && made.conditions.empty()) return std::nullopt;
  const auto& suspected = report.nodes;
  const bool of_suspect = !suspected.empty() && std::ranges::find(suspected[0].events, event.id) !=
                                                    suspected[0].events.end();
  return (follows ? 16 : 0) + (event.role == Role::root ? 0 : 8) +
         (is(Why::fresh) || is(Why::fatal) ? 0 : 4) + (is(Why::spatial) ? 0 : 2) +
         (of_suspect ? 0 : 1);
}

}  // namespace

std::vector<IndicatingEvent> telling(const diagnose::Report& report) {
  std::vector<IndicatingEvent> all = report.events;
  if (auto exit = diagnose::struck(report)) all.push_back(std::move(exit->event));
  return all;
}

std::vector<std::string> names_of(const diagnose::Report& report, const IndicatingEvent& event) {
  std::vector<std::string> names = event.nodes;
  names.push_back(event.first.node);
  for (const diagnose::SuspectNode& node : report.nodes) names.push_back(node.node);
  for (const diagnose::SuspectRank& rank : report.ranks) names.push_back(rank.node);
  return names;
}

const faults::Fault* known_as(const faults::Library& library, const IndicatingEvent& event) {
  const auto found = library.match(event.text, diagnose::parameters_of(event));
  return found.empty() ? nullptr : found.front();
}

const IndicatingEvent* most_telling(const diagnose::Report& report,
                                    const std::vector<IndicatingEvent>& events,
                                    const faults::Library& library) {
  const IndicatingEvent* best = nullptr;
  int least = 0;
  for (const IndicatingEvent& event : events) {
    const auto rank = rank_of(report, event, library);
    if (!rank || (best != nullptr && *rank >= least)) continue;
    best = &event;
    least = *rank;
  }
  return best;
}

}  // namespace l4::confirm
