// Hints for the events of a made job.
#pragma once

#include <vector>

#include "aggregator/detect/evidence/failure_event.h"
#include "aggregator/job/view.h"

namespace l4::detect::crash::test {

/// One for each event; `complete(event, hint)` fills it in.
template <class Complete>
std::vector<EventHint> make_hints(const job::JobView& view, Complete complete) {
  std::vector<EventHint> hints;
  for (const job::EventView& event : view.events) complete(event, hints.emplace_back());
  return hints;
}

/// Severities by wording alone.
inline void note_wording(const job::EventView& event, EventHint& hint) {
  hint.severity = severity_of(event.text, event.level);
}

}  // namespace l4::detect::crash::test
