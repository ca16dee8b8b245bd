#include "aggregator/diagnose/hints.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "aggregator/detect/evidence/statement.h"
#include "aggregator/diagnose/pool.h"
#include "aggregator/faults/library.h"
#include "aggregator/job/share.h"
#include "aggregator/job/view.h"
#include "common/wire/segment.h"

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

/// Severity from the printed level alone. NCCL has no graver level than WARN.
bool only_warns(const job::EventView& event) {
  const auto says = [&](std::string_view words) { return event.text.contains(words); };
  return event.level == Level::warning && !(says("NCCL WARN") && says(" error "));
}

/// Known faults that a text states as facts: none that only a list of possible causes names.
std::vector<const faults::Fault*> faults_stated(const faults::Library& library,
                                                const job::EventView& event,
                                                const std::optional<detect::Guess>& guess) {
  const std::vector<wire::Parameter> parameters = distinct_parameters(event);
  auto shown = library.match(event.text, parameters);
  if (shown.empty() || !guess) return shown;
  const auto facts = library.match(guess->facts);
  const auto causes = library.match(guess->causes, parameters);
  const auto is_in = [](const auto& faults, const faults::Fault* fault) {
    return std::ranges::find(faults, fault) != faults.end();
  };
  std::erase_if(shown, [&](const faults::Fault* fault) {
    return is_in(causes, fault) && !is_in(facts, fault);
  });
  return shown;
}

/// "node-7" of "node-7.cluster".
std::string_view short_name(std::string_view host) {
  return host.substr(0, host.find('.'));
}

/// The node that a word of a line names, if any.
class NodeNames {
 public:
  explicit NodeNames(const std::vector<job::NodeView>& nodes) : nodes_(nodes) {
    for (std::uint32_t node = 0; node < nodes.size(); ++node)
      by_name_.emplace(short_name(nodes[node].name), node);
  }

  /// "node-7" and "node-7.cluster" are one node.
  std::optional<std::uint32_t> find(std::string_view word) const {
    const auto [from, to] = by_name_.equal_range(short_name(word));
    for (auto at = from; at != to; ++at) {
      const std::string_view name = nodes_[at->second].name;
      if (name == word || name == at->first || word == at->first) return at->second;
    }
    return std::nullopt;
  }

 private:
  const std::vector<job::NodeView>& nodes_;
  std::unordered_multimap<std::string_view, std::uint32_t> by_name_;
};

/// A line of one node about another is evidence about the named node ("Node failure on node-7"). A
/// line that names more than a quarter of the nodes is a list, and a node that names itself reports
/// its own failure.
std::vector<std::uint32_t> nodes_named(const job::JobView& view, const job::EventView& event,
                                       const NodeNames& names) {
  std::vector<std::uint32_t> named;
  for (const job::ParameterSeen& seen : event.parameters)
    for (const wire::Parameter& value : seen.values) {
      if (value.kind != wire::ParameterKind::host) continue;
      const auto node = names.find(value.value);
      if (!node || std::ranges::find(named, *node) != named.end()) continue;
      named.push_back(*node);
      if (!job::is_few(named.size(), view.nodes.size())) return {};
    }
  const bool itself = std::ranges::any_of(event.at, [&](const job::Occurrence& occurrence) {
    return std::ranges::find(named, view.streams[occurrence.stream].node) != named.end();
  });
  return itself ? std::vector<std::uint32_t>{} : named;
}

/// Applies the pool to every event (paper 5.2). Exposure is a node's thousands of lines.
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
  const NodeNames names(view.nodes);
  hints.faults.resize(view.events.size());
  for (std::uint32_t i = 0; i < view.events.size(); ++i) {
    const job::EventView& event = view.events[i];
    EventHint hint;
    const auto guess = detect::find_guess(event.text);
    const std::string_view facts = guess ? std::string_view(guess->facts) : event.text;
    hint.severity = detect::severity_of(facts, event.level);
    hint.in_pool = rule == detect::cross_job::Rule::paper ? filtered[i].dropped : filtered[i].known;
    hint.excess = filtered[i].known && !filtered[i].dropped;
    if (filtered[i].dropped) ++hints.events_dropped;
    if (library != nullptr) hints.faults[i] = faults_stated(*library, event, guess);
    hint.by_words =
        hints.faults[i].empty() && event.level <= Level::info && !detect::says_at_front(facts);
    hint.ordinary = hints.faults[i].empty();
    hint.mild = only_warns(event);
    if (!hints.faults[i].empty()) {
      const faults::Fault& fault = *hints.faults[i].front();
      hint.known_fault = true;
      hint.general = fault.general;
      hint.ordinary = fault.category == faults::Category::user && fault.subcategory == "program";
      hint.coded = std::ranges::count(fault.conditions, wire::ParameterKind::code,
                                      &faults::Condition::kind) > 0;
      hint.consequence = fault.consequence || fault.severity == Level::info;  // harmless by itself
      hint.waited = std::ranges::any_of(hints.faults[i], &faults::Fault::timeout);
      hint.setup = std::ranges::any_of(hints.faults[i], &faults::Fault::setup);
      hint.accuses_peer = fault.accuses_peer;
      hint.mild = fault.severity <= Level::warning;
      hint.severity = fault.severity == Level::info
                          ? std::min(hint.severity, Severity::notice)
                          : std::max(hint.severity, severity_of(fault.severity));
    }
    if (event.text == kHeadAlone) hint.consequence = true;  // the end of the line is missing
    constexpr std::uint8_t kEcho = wire::kMarkTeardown | wire::kMarkAftermath;
    if ((event.marks & kEcho) != 0) hint.consequence = true;
    const bool tells = hint.severity >= Severity::failure && !hint.consequence && !hint.in_pool;
    hints.named.push_back(tells ? nodes_named(view, event, names) : std::vector<std::uint32_t>{});
    hints.events.push_back(hint);
  }
  return hints;
}

}  // namespace l4::diagnose
