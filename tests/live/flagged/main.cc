// l4_flagged: which lines of a folder a report speaks of, for comparing a live report with files.
//
//   l4_flagged REPORT FOLDER OUT
//
// REPORT is the JSON of a report (a snapshot of the aggregator), FOLDER what `l4 diagnose` would be
// given. OUT gets the rows of `--lines` for the report's events within their nodes and ranks.
// Prints how many events the report has and how many of them the files hold. Ends with 2 on bad
// input.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "agent/segment/rule_pack.h"
#include "aggregator/job/attempts.h"
#include "aggregator/job/view.h"
#include "aggregator/serve/report_json.h"
#include "offline/lines_writer.h"
#include "offline/offline.h"
#include "offline/settings.h"

namespace {

using namespace l4;

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "l4_flagged: %s\n", error.text().c_str());
  std::exit(2);
}

template <class T>
T must(Result<T> result) {
  if (!result) fail(result.error());
  return std::move(*result);
}

bool speaks(const diagnose::IndicatingEvent& event, const job::JobView& view,
            const job::StreamView& stream) {
  const std::string& node = view.nodes[stream.node].name;
  if (std::ranges::find(event.nodes, node) == event.nodes.end()) return false;
  const auto rank = view.ranks[stream.rank].rank;
  return !rank || event.ranks.empty() || std::ranges::find(event.ranks, *rank) != event.ranks.end();
}

diagnose::EventScope scope_of(const diagnose::IndicatingEvent& event, const job::JobView& view,
                              job::TemplateTable& templates) {
  const TemplateId id = templates.canonical(event.id);
  diagnose::EventScope scope{event.id, event.score, std::nullopt, {}};
  for (const job::StreamView& stream : view.streams) {
    if (!speaks(event, view, stream)) continue;
    for (const auto& [local, stats] : stream.state->events)
      if (templates.resolve(stream.agent->node_index, LocalTemplateId{local}) == id)
        scope.streams.push_back(
            {stream.agent->name, stream.state->source.id, LocalTemplateId{local}});
  }
  return scope;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) fail({"usage", "l4_flagged REPORT FOLDER OUT"});
  std::ostringstream text;
  text << std::ifstream(words[1]).rdbuf();
  diagnose::Diagnosis live;
  live.report = must(serve::report_from_json(text.str()));

  const auto settings = must(offline::load_settings({}));
  const auto packs = must(segment::RulePackSet::load(settings.frameworks));
  job::TemplateTable templates;
  offline::Options offline;
  offline.agent = settings.agent;
  offline.shares = settings.shares;
  offline::Progress progress;
  const auto job = must(offline::read_job({words[2]}, packs, templates, offline, progress));
  const job::JobView view = job::make_view(*job.state, live.report.job.attempt, false);

  std::size_t held = 0;
  for (const diagnose::IndicatingEvent& event : live.report.events) {
    live.scopes.push_back(scope_of(event, view, templates));
    held += live.scopes.back().streams.empty() ? 0 : 1;
    if (live.scopes.back().streams.empty())
      fmt::print("not found: {} {}\n", to_string(event.id), event.text);
  }
  if (const auto written = offline::write_lines(live, job, words[3]); !written)
    fail(written.error());
  fmt::print("{} events, {} of them in the files\n", live.report.events.size(), held);
  return 0;
}
