#include "aggregator/diagnose/hints.h"

#include <algorithm>
#include <string_view>

namespace l4::diagnose {
namespace {

using detect::EventHint;
using detect::Severity;

constexpr std::string_view kHeadAlone = "Traceback (most recent call last):";

Severity severity_of(Level level) {
  switch (level) {
    case Level::fatal:
      return Severity::fatal;
    case Level::error:
      return Severity::failure;
    case Level::warning:
      return Severity::notice;
    default:
      return Severity::none;
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

/// What the pool says of every event (paper 5.2). Exposure is a node's thousands of lines.
std::vector<detect::cross_job::EventVerdict> filter(const job::JobView& view, const Pool& pool,
                                                    detect::cross_job::Rule rule) {
  const auto lines = lines_by_node(view);
  std::vector<detect::cross_job::EventHere> events(view.events.size());
  for (std::size_t i = 0; i < view.events.size(); ++i) {
    const PoolEvent* known = pool.find(view.events[i].id);
    if (known == nullptr) continue;
    events[i].pool = {known->runs, 1000 * known->node_rate_max,
                      static_cast<double>(known->node_count_max)};
    const auto counts = counts_by_node(view, view.events[i]);
    for (std::size_t node = 0; node < counts.size(); ++node)
      if (counts[node] > 0)
        events[i].nodes.push_back(
            {static_cast<double>(counts[node]), static_cast<double>(lines[node]) / 1000});
  }
  detect::cross_job::FilterOptions options;
  options.rule = rule;
  return detect::cross_job::filter_events(events, pool.runs, options);
}

}  // namespace

Hints make_hints(const job::JobView& view, const Pool& pool, const faults::Library* library,
                 detect::cross_job::Rule rule) {
  Hints hints;
  const auto filtered = filter(view, pool, rule);
  hints.faults.resize(view.events.size());
  for (std::uint32_t i = 0; i < view.events.size(); ++i) {
    const job::EventView& event = view.events[i];
    EventHint hint;
    hint.severity = detect::severity_of(event.text, event.level);
    hint.in_pool = rule == detect::cross_job::Rule::paper ? filtered[i].dropped : filtered[i].known;
    hint.excess = filtered[i].known && !filtered[i].dropped;
    if (filtered[i].dropped) ++hints.events_dropped;
    if (library != nullptr)
      hints.faults[i] = library->match(event.text, distinct_parameters(event));
    if (!hints.faults[i].empty()) {
      const faults::Fault& fault = *hints.faults[i].front();
      hint.known_fault = true;
      hint.consequence = fault.consequence || fault.severity == Level::info;  // harmless by itself
      hint.waited = std::ranges::any_of(hints.faults[i], &faults::Fault::timeout);
      hint.setup = std::ranges::any_of(hints.faults[i], &faults::Fault::setup);
      hint.accuses_peer = fault.accuses_peer;
      hint.mild = fault.severity <= Level::warning;
      hint.severity = fault.severity == Level::info
                          ? std::min(hint.severity, Severity::notice)
                          : std::max(hint.severity, severity_of(fault.severity));
    }
    if (event.text == kHeadAlone) hint.consequence = true;  // its end is missing
    constexpr std::uint8_t kEcho = wire::kMarkTeardown | wire::kMarkAftermath;
    if ((event.marks & kEcho) != 0) hint.consequence = true;
    hints.events.push_back(hint);
  }
  return hints;
}

}  // namespace l4::diagnose
