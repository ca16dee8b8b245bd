#include "tools/l4/inspect_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "tools/l4/config_paths.h"
#include "tools/l4/diagnose_command.h"
#include "tools/l4/offline.h"

namespace l4::cli {
namespace {

/// "0-7, 12": a list of ranks for people.
std::string spell(const std::vector<Rank>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end].value() == ranks[end - 1].value() + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ranks[i].value());
    if (end - i > 1) text += fmt::format("-{}", ranks[end - 1].value());
    i = end;
  }
  return text.empty() ? "-" : text;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

int run_inspect(const InspectOptions& options) {
  auto packs = segment::RulePackSet::load(find_config_dir() / "frameworks");
  if (!packs) {
    std::cerr << "l4: " << packs.error().text() << '\n';
    return kWrongUse;
  }
  job::TemplateTable templates;
  OfflineOptions offline;
  offline.layout = options.layout;
  Progress progress;
  auto job = read_job(options.paths, *packs, templates, offline, progress);
  if (!job) {
    std::cerr << "l4: " << job.error().text() << '\n';
    return kNothingRead;
  }
  std::cout << fmt::format("{:<52} {:<14} {:>9} {:<8} {:>6} {:<10} {}\n", "file", "node", "lines",
                           "times", "timed", "ranks", "iteration marker");
  std::uint64_t lines = 0;
  std::uint64_t timed = 0;
  std::set<Rank> ranks;
  for (const auto& agent : job->agents)
    for (const agent::FileFacts& fact : agent->facts()) {
      lines += fact.lines;
      timed += fact.lines_with_time;
      ranks.insert(fact.ranks.begin(), fact.ranks.end());
      std::cout << fmt::format("{:<52} {:<14} {:>9} {:<8} {:>5.0f}% {:<10} {}\n", fact.name,
                               fact.node, fact.lines, fact.time_format,
                               share(fact.lines_with_time, fact.lines), spell(fact.ranks),
                               fact.iteration_marker.empty() ? "-" : fact.iteration_marker);
    }
  std::cout << fmt::format("\n{} nodes, {} ranks, {} lines, {:.0f} % of them with a time\n",
                           job->agents.size(), ranks.size(), lines, share(timed, lines));
  for (const wire::Warning& warning : job->state->warnings())
    std::cerr << "l4: warning: " << warning.file << ": " << warning.reason << '\n';
  return kDone;
}

}  // namespace l4::cli
