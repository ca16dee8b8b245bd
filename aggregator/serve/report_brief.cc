#include "aggregator/serve/report_brief.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "aggregator/serve/json_text.h"
#include "aggregator/serve/json_value.h"
#include "aggregator/serve/report_json.h"

namespace l4::serve {
namespace {

using diagnose::IndicatingEvent;
using diagnose::Report;
using Names = std::unordered_set<std::string_view>;

template <class T>
std::vector<T> head(const std::vector<T>& list, std::size_t rows) {
  return {list.begin(), list.begin() + static_cast<std::ptrdiff_t>(std::min(rows, list.size()))};
}

IndicatingEvent head_of(const IndicatingEvent& event, std::size_t rows) {
  IndicatingEvent cut = event;
  cut.nodes = head(event.nodes, rows);
  cut.ranks = head(event.ranks, rows);
  cut.parameters = head(event.parameters, rows);
  return cut;
}

/// Copies no list that is cut as a whole.
Report head_of(const Report& report, std::size_t rows) {
  Report cut;
  cut.version = report.version;
  cut.scoring = report.scoring;
  cut.job = report.job;
  cut.verdict = report.verdict;
  cut.nodes = head(report.nodes, rows);
  Names kept;
  for (const diagnose::SuspectNode& node : cut.nodes) kept.insert(node.node);
  for (const diagnose::SuspectRank& rank : report.ranks)
    if (kept.contains(rank.node)) cut.ranks.push_back(rank);
  for (const IndicatingEvent& event : report.events) cut.events.push_back(head_of(event, rows));
  for (const diagnose::ScoredIteration& iteration : report.iterations)
    cut.iterations.push_back({iteration.iteration, iteration.score, iteration.begin, iteration.end,
                              head(iteration.nodes, rows), head(iteration.events, rows)});
  cut.stages = report.stages;
  cut.faults = report.faults;
  cut.pool = report.pool;
  cut.warnings = head(report.warnings, rows);
  cut.notable = report.notable;
  cut.advice = report.advice;
  cut.clues = report.clues;
  cut.evidence = head(report.evidence, rows);
  cut.read = report.read;
  cut.read.sources = head(report.read.sources, rows);
  cut.certainty = report.certainty;
  return cut;
}

std::size_t consequence_nodes(const Report& report) {
  Names names;
  for (const IndicatingEvent& event : report.events)
    if (event.role == Role::consequence) names.insert(event.nodes.begin(), event.nodes.end());
  return names.size();
}

}  // namespace

std::string brief_json(const Report& report, std::size_t rows) {
  JsonWriter text;
  text.open('{').key("report").raw(to_json(head_of(report, rows))).key("whole").open('{');
  text.member("nodes", report.nodes.size()).member("ranks", report.ranks.size());
  text.member("warnings", report.warnings.size());
  text.member("consequence_nodes", consequence_nodes(report)).key("event_nodes").open('[');
  for (const IndicatingEvent& event : report.events) text.value(event.nodes.size());
  text.close(']').close('}').close('}');
  return text.release() + '\n';
}

Report report_in_brief(const std::string& brief) {
  const auto json = parse_json(brief);
  const JsonValue* const report = json ? json->find("report") : nullptr;
  if (report == nullptr) return {};
  return report_from_json(dump_json(*report)).value_or(Report());
}

}  // namespace l4::serve
