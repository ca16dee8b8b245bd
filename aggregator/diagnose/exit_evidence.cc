#include "aggregator/diagnose/exit_evidence.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/diagnose/findings/exits.h"
#include "common/drain/mask.h"
#include "common/drain/row.h"
#include "common/parameters/parameters.h"

namespace l4::diagnose {
namespace {

/// The signal that ended the process of which the clue tells.
std::optional<std::int32_t> signal_of(const Clue& clue) {
  const auto fact = std::ranges::find(clue.facts, clues::FactKind::signal, &ClueFact::kind);
  if (fact == clue.facts.end()) return std::nullopt;
  std::int32_t signal = 0;
  const char* const end = fact->value.data() + fact->value.size();
  const auto read = std::from_chars(fact->value.data(), end, signal);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return signal;
}

IndicatingEvent event_of(const Report& report, const SuspectRank& rank, const Clue& clue) {
  const drain::Row row = drain::masked_row(clue.text, drain::default_codes());
  IndicatingEvent event;
  event.id = TemplateId{drain::hash(row)};
  event.text = drain::text(row);
  event.role = Role::root;
  event.count = 1;
  event.nodes = {rank.node};
  if (rank.rank) event.ranks = {*rank.rank};
  event.first = {report.verdict.since, rank.node, rank.rank};
  event.level = Level::fatal;
  event.why = {Why::spatial, Why::fatal};
  std::vector<wire::Parameter> values;
  parameters::extract(clue.text, values);
  for (wire::Parameter& value : values)
    event.parameters.push_back({value.kind, std::move(value.value), 1});
  event.examples = {{rank.node, rank.rank, {}, 0, clue.text}};
  return event;
}

}  // namespace

std::optional<Struck> struck(const Report& report) {
  if (report.ranks.empty()) return std::nullopt;
  const SuspectRank& first = report.ranks.front();
  for (const Clue& clue : report.clues) {
    if (clue.rank != first.rank || clue.node != first.node) continue;
    const auto signal = signal_of(clue);
    if (signal && strikes(*signal)) return Struck{*signal, event_of(report, first, clue)};
  }
  return std::nullopt;
}

}  // namespace l4::diagnose
