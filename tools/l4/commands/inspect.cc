#include "tools/l4/commands/inspect.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <thread>

#include "aggregator/diagnose/read_summary.h"
#include "offline/inputs.h"
#include "offline/offline.h"
#include "offline/settings.h"
#include "tools/l4/commands/diagnose.h"
#include "tools/l4/commands/inspect_view.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/progress_line.h"

namespace l4::commands {
namespace {

Survey survey_of(const offline::Job& job) {
  std::map<std::string, wire::SourceKind> kinds;
  for (const auto& [name, agent] : job.state->agents())
    for (const auto& [id, stream] : agent.streams)
      kinds.try_emplace(stream.source.path, stream.source.kind);
  std::map<std::string, diagnose::SourceRead> read;
  diagnose::ReadSummary summary =
      diagnose::summarise_reading(*job.state, std::numeric_limits<std::size_t>::max());
  for (diagnose::SourceRead& source : summary.sources)
    read.try_emplace(source.file, std::move(source));
  Survey survey;
  survey.all = std::move(summary.understood);
  survey.job = job.state->id();
  for (const auto& agent : job.agents)
    for (agent::FileFacts& facts : agent->facts()) {
      const auto kind = kinds.find(facts.name);
      auto& source = read[facts.name];
      survey.files.push_back({std::move(facts),
                              kind == kinds.end() ? wire::SourceKind::other : kind->second,
                              std::move(source)});
    }
  std::ranges::sort(survey.files, {}, [](const SurveyedFile& file) { return file.facts.name; });
  std::set<std::string> frameworks;
  for (const auto& agent : job.agents)
    for (std::string& name : agent->frameworks()) frameworks.insert(std::move(name));
  survey.frameworks.assign(frameworks.begin(), frameworks.end());
  survey.warnings = job.state->warnings();
  return survey;
}

}  // namespace

const char* const kInspectFooter =
    R"(For each file: its node, what kind of log it is, its ranks and lines, the format of its
times and how many lines have one, and the line that marks an iteration. Below the table
stands why that line was taken, and what could not be used. With -o json each file also has
its shares of lines with a rank and in an iteration. Use it where a report names wrong nodes
or ranks, and see --layout.

Exit status:
  0   here it is; warnings tell of input that could not be read
  2   wrong use
  3   nothing could be read)";

void add_inspect(terminal::Options& to, InspectOptions& options) {
  to.value("PATH", options.paths, "", "a folder, a file, a .tar.gz, or - for standard input")
      .required();
  to.value("--layout", options.layout, "PATTERN", kLayoutHelp);
  to.value("--config", options.config, "FILE", "settings; see config/diagnose.toml");
  to.format(options.format);
}

Result<void> check_inspect(const InspectOptions& options) {
  return check_layout(options.layout);
}

int run_inspect(const InspectOptions& options) {
  const auto settings = offline::load_settings(options.config);
  if (!settings) return terminal::fail(settings.error(), terminal::kWrongUse);
  auto packs = segment::RulePackSet::load(settings->frameworks);
  if (!packs) return terminal::fail(packs.error(), terminal::kWrongUse);
  auto inputs = offline::Inputs::make(options.paths, settings->archive_bytes_max);
  if (!inputs) return terminal::fail(inputs.error(), terminal::kNothingRead);
  offline::Progress progress;
  terminal::ProgressLine line(progress, isatty(STDERR_FILENO) != 0);
  std::vector<wire::Warning> warnings;
  const auto paths = inputs->resolve(options.paths, warnings, progress);
  if (!paths) return terminal::fail(paths.error(), terminal::kNothingRead);
  job::TemplateTable templates;
  offline::Options offline;
  offline.layout = options.layout;
  offline.private_folder = inputs->private_folder();
  offline.agent = settings->agent;
  offline.shares = settings->shares;
  offline.threads = std::max(1u, std::thread::hardware_concurrency());
  auto job = offline::read_job(*paths, *packs, templates, offline, progress);
  if (!job) return terminal::fail(job.error(), terminal::kNothingRead);
  line.stop();
  job->state->note(std::move(warnings));
  const Survey survey = survey_of(*job);
  std::cout << (options.format == "json" ? to_json(survey)
                                         : to_text(survey, terminal::width_of_output()));
  return terminal::finish_output("l4");
}

}  // namespace l4::commands
