#include "aggregator/diagnose/findings/hints.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "aggregator/detect/evidence/ending.h"
#include "aggregator/detect/evidence/statement.h"
#include "aggregator/diagnose/findings/pool.h"
#include "aggregator/faults/library.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/findings.h"
#include "aggregator/numbers/verdict.h"
#include "common/wire/segment.h"

namespace l4::diagnose {
namespace {

using detect::EventHint;
using detect::Severity;

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

/// Nothing but the head of a traceback, and perhaps what stands before it on its line.
bool is_head_alone(std::string_view text) {
  if (text.ends_with(':')) text.remove_suffix(1);
  return text.ends_with(detect::kTracebackHead) &&
         detect::exception_kind(text) == detect::kTracebackHead;
}

/// "Error Message Summary:": the lines behind it say what failed.
bool is_heading(std::string_view text) {
  return text.ends_with(':') &&
         std::ranges::count(text, ' ') <= numbers::findings().heading_blanks_max &&
         text.find_first_of("0123456789<=\"'") == std::string_view::npos;
}

/// The leading fault is a mistake of the program or of its libraries, not of its settings, of a
/// machine or of a service.
bool is_of_program(const std::vector<const faults::Fault*>& faults) {
  return !faults.empty() &&
         (faults.front()->subcategory == "program" || faults.front()->subcategory == "bug");
}

bool is_mild_effect(const faults::Fault* fault) {
  return fault->consequence && fault->severity <= Level::warning;
}

/// What the C++ runtime prints of an exception that nobody caught.
bool is_dying(std::string_view text) {
  return text.starts_with("terminate called") || text.starts_with("what():");
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

/// The event is printed by a rank whose number is known, at least on its node, not by a launcher.
bool is_of_rank(const job::JobView& view, const job::EventView& event) {
  return std::ranges::any_of(event.at, [&](const job::Occurrence& occurrence) {
    const job::RankView& rank = view.ranks[view.streams[occurrence.stream].rank];
    return !rank.launcher && (rank.rank || rank.local_rank);
  });
}

/// What a launcher or an operator reports behind a failure ("Root Cause .. rank: 28") tells where
/// it was, if no rank tells of a cause itself.
void ask_reports(const job::JobView& view, const std::vector<std::uint32_t>& causes,
                 const std::vector<std::uint32_t>& reports, detect::Accusers& accusers,
                 Hints& hints) {
  const auto of_rank = [&](std::uint32_t event) { return is_of_rank(view, view.events[event]); };
  if (std::ranges::any_of(causes, of_rank)) return;
  for (const std::uint32_t event : reports)
    if (!of_rank(event)) hints.accused[event] = accusers.of(view.events[event], true);
}

/// What the library knows of the event; the first fault is the most exact one.
void take_known(const std::vector<const faults::Fault*>& stated, EventHint& hint) {
  const faults::Fault& fault = *stated.front();
  hint.known_fault = true;
  hint.general = fault.general;
  hint.ordinary = fault.category == faults::Category::user && fault.subcategory == "program";
  hint.coded =
      std::ranges::count(fault.conditions, wire::ParameterKind::code, &faults::Condition::kind) > 0;
  hint.harmless = fault.severity == Level::info;
  hint.consequence = fault.consequence || hint.harmless;
  hint.waited = std::ranges::any_of(stated, &faults::Fault::timeout);
  hint.stop = !fault.stopped_by.empty();
  hint.setup = std::ranges::any_of(stated, &faults::Fault::setup);
  hint.accuses_peer = fault.accuses_peer;
  hint.mild = fault.severity <= Level::warning;
  hint.severity = fault.severity == Level::info
                      ? std::min(hint.severity, Severity::notice)
                      : std::max(hint.severity, severity_of(fault.severity));
}

/// What an event says that the library does not know.
void take_words(const job::EventView& event, std::string_view facts, detect::Parts without,
                EventHint& hint) {
  // A platform's word for the outcome, which is no error of the platform's.
  hint.general = detect::ending_of(event.text) == detect::Ending::badly;
  if (hint.general && !without.has(detect::Part::wording))
    hint.severity = std::max(hint.severity, Severity::failure);
  hint.waited = hint.severity >= Severity::failure && detect::states_wait(facts) &&
                longest_duration(event) >= numbers::verdict().wait_min;
}

}  // namespace

Millis longest_duration(const job::EventView& event) {
  std::int64_t longest = 0;
  for (const job::ParameterSeen& seen : event.parameters)
    for (const wire::Parameter& value : seen.values) {
      if (value.kind != wire::ParameterKind::duration_ms) continue;
      std::int64_t ms = 0;
      std::from_chars(value.value.data(), value.value.data() + value.value.size(), ms);
      longest = std::max(longest, ms);
    }
  return Millis{longest};
}

Hints make_hints(const job::JobView& view, const Pool& pool, const faults::Library* library,
                 detect::cross_job::Rule rule, detect::Parts without) {
  Hints hints;
  const auto filtered = filter(view, pool, rule);
  detect::Accusers accusers(view);
  hints.faults.resize(view.events.size());
  std::vector<std::uint32_t> causes, reports;
  for (std::uint32_t i = 0; i < view.events.size(); ++i) {
    const job::EventView& event = view.events[i];
    EventHint hint;
    const auto guess = detect::find_guess(event.text);
    const std::string_view facts = guess ? std::string_view(guess->facts) : event.text;
    hint.severity = without.has(detect::Part::wording) ? Severity::none
                                                       : detect::severity_of(facts, event.level);
    hint.in_pool = rule == detect::cross_job::Rule::paper ? filtered[i].dropped : filtered[i].known;
    hint.excess = filtered[i].known && !filtered[i].dropped;
    if (filtered[i].dropped) ++hints.events_dropped;
    if (library != nullptr) hints.faults[i] = faults_stated(*library, event, guess);
    hint.by_words =
        hints.faults[i].empty() && event.level <= Level::info && !detect::says_at_front(facts);
    hint.ordinary = hints.faults[i].empty();
    hint.mild = only_warns(event);
    if (!hints.faults[i].empty())
      take_known(hints.faults[i], hint);
    else
      take_words(event, facts, without, hint);
    if (!hint.stop && detect::is_python_warning(event.text)) {  // whatever it warns of
      hint.mild = true;
      hint.severity = std::min(hint.severity, Severity::notice);
    }
    // A logger that prints an exception, or what a program did wrong, as a warning has caught it;
    // so it has where the sentence around the exception is known as the effect of something else.
    const bool effect = std::ranges::any_of(hints.faults[i], is_mild_effect);
    if (only_warns(event) &&
        (detect::says_at_front(facts) || is_of_program(hints.faults[i]) || effect)) {
      hint.consequence |= effect;
      hint.mild = true;
      hint.severity = std::min(hint.severity, Severity::failure);
    }
    hint.dying = is_dying(event.text);
    if (hint.by_words && is_heading(event.text)) hint.consequence = true;
    if (detect::is_head_of_thread(event.text)) hint.consequence = true;
    if (is_head_alone(event.text)) hint.consequence = true;  // the lines behind it are missing
    constexpr std::uint8_t kEcho = wire::kMarkTeardown | wire::kMarkAftermath;
    if ((event.marks & kEcho) != 0 && !hint.stop) hint.consequence = true;
    // Where words are not read, what healthy runs do not print may be a failure.
    const bool bad =
        without.has(detect::Part::wording) ? pool.runs > 0 : hint.severity >= Severity::failure;
    const bool fails = bad && !hint.in_pool;
    if (fails && !hint.is_echo()) causes.push_back(i);
    if (fails && hint.consequence && !hint.accuses_peer) reports.push_back(i);
    const bool tells = !without.has(detect::Part::accusations) && fails &&
                       (!hint.consequence || hint.accuses_peer);
    hints.accused.push_back(tells ? accusers.of(event) : detect::Accused{});
    hints.events.push_back(hint);
  }
  if (!without.has(detect::Part::accusations)) ask_reports(view, causes, reports, accusers, hints);
  hints.outsiders = accusers.outsiders();
  return hints;
}

}  // namespace l4::diagnose
