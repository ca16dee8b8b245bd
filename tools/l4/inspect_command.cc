#include "tools/l4/inspect_command.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <string_view>
#include <thread>

#include "tools/l4/diagnose_command.h"
#include "tools/l4/inputs.h"
#include "tools/l4/inspect_view.h"
#include "tools/l4/offline.h"
#include "tools/l4/progress_line.h"
#include "tools/l4/settings.h"
#include "tools/l4/terminal.h"

namespace l4::cli {
namespace {

Survey survey_of(const OfflineJob& job) {
  std::map<std::string, wire::SourceKind> kinds;
  for (const auto& [name, agent] : job.state->agents())
    for (const auto& [id, stream] : agent.streams)
      kinds.try_emplace(stream.source.path, stream.source.kind);
  Survey survey;
  survey.job = job.state->id();
  for (const auto& agent : job.agents)
    for (agent::FileFacts& facts : agent->facts()) {
      const auto kind = kinds.find(facts.name);
      survey.files.push_back(
          {std::move(facts), kind == kinds.end() ? wire::SourceKind::other : kind->second});
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

int run_inspect(const InspectOptions& options) {
  const auto settings = load_settings(options.config);
  if (!settings) return fail(settings.error(), kWrongUse);
  auto packs = segment::RulePackSet::load(settings->frameworks);
  if (!packs) return fail(packs.error(), kWrongUse);
  auto inputs = Inputs::make(options.paths, settings->archive_bytes_max);
  if (!inputs) return fail(inputs.error(), kNothingRead);
  Progress progress;
  ProgressLine line(progress, isatty(STDERR_FILENO) != 0);
  std::vector<wire::Warning> warnings;
  const auto paths = inputs->resolve(options.paths, warnings, progress);
  if (!paths) return fail(paths.error(), kNothingRead);
  job::TemplateTable templates;
  OfflineOptions offline;
  offline.layout = options.layout;
  offline.private_folder = inputs->private_folder();
  offline.agent = settings->agent;
  offline.shares = settings->shares;
  offline.threads = std::max(1u, std::thread::hardware_concurrency());
  auto job = read_job(*paths, *packs, templates, offline, progress);
  if (!job) return fail(job.error(), kNothingRead);
  line.stop();
  job->state->note(std::move(warnings));
  const Survey survey = survey_of(*job);
  std::cout << (options.format == "json" ? to_json(survey) : to_text(survey, width_of_output()));
  return finish_output("l4");
}

}  // namespace l4::cli
