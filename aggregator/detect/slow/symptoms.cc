#include "aggregator/detect/slow/symptoms.h"

#include <algorithm>
#include <set>

#include "aggregator/job/clock.h"
#include "aggregator/job/share.h"
#include "aggregator/job/stream.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/slow.h"
#include "common/base/earliest.h"

namespace l4::detect::slow {
namespace {

/// `sounds`: its words are those of a failure.
bool began_with(const job::Occurrence& occurrence, const job::JobClock& clock,
                const Slowdown& slowdown, bool sounds) {
  if (occurrence.time && slowdown.earliest_since) {
    const auto lead =
        Millis{static_cast<std::int64_t>(numbers::slow().symptom_lead * clock.gap_max_ms)};
    return *occurrence.time + lead >= *slowdown.earliest_since;
  }
  if (occurrence.stats.first_iteration)
    return occurrence.stats.first_iteration->value() +
               numbers::slow().symptom_lead * clock.stride >=
           slowdown.earliest.value();
  return sounds;  // without times it is enough that a complaint recurs
}

/// The event recurs, and did not stop long before the end of the job. `sounds`: its words are those
/// of a failure, or healthy runs do not print it; others must recur more often, since every job
/// saves and evaluates now and then.
bool keeps_coming(const job::JobView& view, const job::JobClock& clock, const Slowdown& slowdown,
                  const job::EventView& event, bool sounds) {
  if (event.count <
      (sounds ? numbers::slow().symptom_times_min : numbers::slow().wordless_times_min))
    return false;
  for (const job::Occurrence& occurrence : event.at) {
    const bool untimed =
        occurrence.first_line > view.streams[occurrence.stream].state->timed_last_line;
    if (untimed) return true;  // without times it is enough that the event recurs
    if (occurrence.stats.last_time && view.end && slowdown.since) {
      // The event occurs in the last half of the slow phase.
      if (*view.end - *occurrence.stats.last_time < (*view.end - *slowdown.since) / 2) return true;
    } else if (occurrence.stats.last_iteration && clock.completed_by_any) {
      const auto half = (clock.completed_by_any->value() - slowdown.first.value()) / 2;
      if (clock.completed_by_any->value() - occurrence.stats.last_iteration->value() <= half)
        return true;
    } else {
      return true;
    }
  }
  return false;
}

/// Nodes whose ranks explain most of the slowdown by their own work; empty if no few ranks do.
std::set<std::uint32_t> explaining_nodes(const job::JobView& view, const Slowdown& slowdown) {
  std::set<std::uint32_t> ranks, nodes;
  for (const Drag& drag : slowdown.drags)
    if (drag.score >= numbers::slow().symptom_explains * (slowdown.after_ms - slowdown.before_ms))
      ranks.insert(drag.rank);
  if (ranks.size() > 1 && !job::is_few(ranks.size(), view.training_ranks())) return nodes;
  for (const std::uint32_t rank : ranks) nodes.insert(view.ranks[rank].node);
  return nodes;
}

bool have_common(const std::set<std::uint32_t>& a, const std::set<std::uint32_t>& b) {
  return std::ranges::any_of(a, [&](std::uint32_t one) { return b.contains(one); });
}

}  // namespace

FailureEvents find_symptoms(const job::JobView& view, const job::JobClock& clock,
                            const Slowdown& slowdown, const std::vector<EventHint>& hints) {
  FailureEvents found;
  const auto explaining = explaining_nodes(view, slowdown);
  // Where healthy runs are known, what none of them prints needs no words.
  const bool pooled = std::ranges::any_of(hints, &EventHint::in_pool);
  for (std::uint32_t i = 0; i < view.events.size(); ++i) {
    const job::EventView& event = view.events[i];
    const EventHint& hint = hints[i];
    if (hint.in_pool && !hint.excess) continue;
    if (event.marks != 0) continue;
    std::set<std::uint32_t> nodes;
    for (const job::Occurrence& occurrence : event.at)
      nodes.insert(view.streams[occurrence.stream].node);
    if (nodes.size() > 1 && !job::is_few(nodes.size(), view.nodes.size())) continue;
    if (!explaining.empty() && !have_common(nodes, explaining)) continue;
    const bool sounds = pooled || hint.severity >= Severity::failure;
    if (!std::ranges::all_of(event.at, [&](const job::Occurrence& occurrence) {
          return began_with(occurrence, clock, slowdown, sounds);
        }))
      continue;
    if (!keeps_coming(view, clock, slowdown, event, sounds)) continue;
    FailureEvent symptom;
    symptom.event = i;
    symptom.severity = std::max(hint.severity, Severity::failure);
    for (std::uint32_t at = 0; at < event.at.size(); ++at) {
      symptom.occurrences.push_back(at);
      if (at > 0 &&
          !(event.at[at].time && (!symptom.first_time || *event.at[at].time < *symptom.first_time)))
        continue;
      symptom.first_time = event.at[at].time;
      symptom.first_stream = event.at[at].stream;
    }
    found.events.push_back(std::move(symptom));
  }
  // Where some symptom sounds like a failure, the others only go with it.
  const auto sounds = [&](const FailureEvent& event) {
    return hints[event.event].severity >= Severity::failure;
  };
  if (std::ranges::any_of(found.events, sounds))
    std::erase_if(found.events, [&](const FailureEvent& event) { return !sounds(event); });
  for (const FailureEvent& event : found.events)
    keep_earliest(found.first_failure, event.first_time);
  return found;
}

Slowdown find_short_slowdown(const job::JobView& view, const job::JobClock& clock,
                             const std::vector<EventHint>& hints) {
  const Options of_few{.z_min = numbers::slow().short_z_min,
                       .before_min = numbers::slow().short_before_min,
                       .after_min = numbers::slow().short_after_min};
  if (!has_few_ticks(clock)) return {};
  Slowdown found = find_slowdown(view, clock, of_few);
  if (!found.found) return {};
  const FailureEvents symptoms = find_symptoms(view, clock, found, hints);
  found.by_symptoms = true;
  found.found = std::ranges::any_of(symptoms.events, [&](const FailureEvent& symptom) {
    return symptom.first_time &&
           view.events[symptom.event].count >= numbers::slow().short_symptom_times_min;
  });
  return found;
}

}  // namespace l4::detect::slow
