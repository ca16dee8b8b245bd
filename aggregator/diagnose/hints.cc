#include "aggregator/diagnose/hints.h"

#include <algorithm>

namespace l4::diagnose {
namespace {

using detect::crash::EventHint;
using detect::crash::Severity;

Severity severity_of(Level level) {
  switch (level) {
    case Level::fatal: return Severity::fatal;
    case Level::error: return Severity::failure;
    case Level::warning: return Severity::notice;
    default: return Severity::none;
  }
}

std::vector<wire::Parameter> distinct_parameters(const job::EventView& event) {
  constexpr std::size_t kParametersMax = 64;
  std::vector<wire::Parameter> values;
  for (const job::ParameterSeen& seen : event.parameters)
    for (const wire::Parameter& value : seen.values)
      if (values.size() < kParametersMax && std::ranges::find(values, value) == values.end())
        values.push_back(value);
  return values;
}

/// A known event counts again where one node says it many times more often than any healthy one.
bool is_excess(const job::JobView& view, const job::EventView& event, const PoolEvent& known) {
  constexpr double kTimes = 8;
  constexpr std::uint64_t kCountMin = 16;
  const auto counts = counts_by_node(view, event);
  const auto lines = lines_by_node(view);
  for (std::size_t node = 0; node < counts.size(); ++node) {
    if (counts[node] < kCountMin) continue;
    const double usual = std::max(known.node_rate_max * static_cast<double>(lines[node]),
                                  static_cast<double>(known.node_count_max));
    if (static_cast<double>(counts[node]) > kTimes * usual) return true;
  }
  return false;
}

}  // namespace

Hints make_hints(const job::JobView& view, const Pool& pool, const faults::Library* library) {
  Hints hints;
  hints.faults.resize(view.events.size());
  for (std::uint32_t i = 0; i < view.events.size(); ++i) {
    const job::EventView& event = view.events[i];
    EventHint hint;
    hint.severity = detect::crash::severity_of(event.text, event.level);
    if (const PoolEvent* known = pool.find(event.id)) {
      hint.in_pool = true;
      hint.excess = is_excess(view, event, *known);
      if (!hint.excess) ++hints.events_dropped;
    }
    if (library != nullptr) hints.faults[i] = library->match(event.text, distinct_parameters(event));
    if (!hints.faults[i].empty()) {
      const faults::Fault& fault = *hints.faults[i].front();
      hint.known_fault = true;
      hint.consequence = fault.consequence;
      hint.waited = fault.timeout;
      hint.accuses_peer = fault.accuses_peer;
      hint.severity = std::max(hint.severity, severity_of(fault.severity));
    }
    if ((event.marks & wire::kMarkTeardown) != 0) hint.consequence = true;
    hints.events.push_back(hint);
  }
  return hints;
}

}  // namespace l4::diagnose
