#include "tools/l4/commands/diagnose.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/report_text.h"
#include "aggregator/serve/utf8.h"
#include "offline/file_times.h"
#include "offline/inputs.h"
#include "offline/lines_writer.h"
#include "offline/offline.h"
#include "offline/settings.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/progress_line.h"

namespace l4::commands {
namespace {

Result<l4::faults::Library> load_faults(const DiagnoseOptions& options,
                                        const offline::Settings& settings) {
  if (options.no_faults) return l4::faults::Library();
  if (options.faults.empty()) return l4::faults::Library::load(settings.faults);
  auto library = l4::faults::Library::load(options.faults);
  if (!library)
    return std::unexpected(Error{"--faults: " + library.error().where, library.error().reason});
  return library;
}

std::string render(const diagnose::Report& report, const DiagnoseOptions& options) {
  if (options.format == "json") return serve::to_json(report);
  serve::TextStyle style;
  style.color = options.out.empty() && terminal::is_color_wanted();
  style.top = options.top;
  return serve::to_text(report, style);
}

/// On standard error, unless the report that tells them goes to the same reader.
void tell(const std::vector<wire::Warning>& warnings, const DiagnoseOptions& options) {
  constexpr std::size_t kToldMax = 20;
  if (options.format == "text" && options.out.empty()) return;
  const std::size_t told = std::min(kToldMax, warnings.size());
  for (std::size_t i = 0; i < told; ++i)
    std::cerr << "l4: warning: "
              << serve::harmless(Error{warnings[i].file, warnings[i].reason}.text())
              << (warnings[i].bytes > 0 ? fmt::format(" ({} bytes)", warnings[i].bytes) : "")
              << '\n';
  if (warnings.size() > told)
    std::cerr << fmt::format("l4: and {} more warnings, all in the report\n",
                             warnings.size() - told);
}

/// Reads each `--history`; one that cannot be read becomes a warning.
std::vector<offline::Job> read_history(const DiagnoseOptions& options,
                                       const segment::RulePackSet& packs,
                                       job::TemplateTable& templates, offline::Options offline,
                                       offline::Inputs& inputs, offline::Progress& progress,
                                       std::vector<wire::Warning>& warnings) {
  std::vector<offline::Job> runs;
  for (const std::filesystem::path& given : options.history) {
    ++offline.job_index;
    std::vector<wire::Warning> ignored;  // what is normal need not be known to the last line
    auto paths = inputs.resolve({given}, ignored, progress);
    auto run = paths ? offline::read_job(*paths, packs, templates, offline, progress)
                     : Result<offline::Job>(std::unexpected(paths.error()));
    if (!run) {
      warnings.push_back({"history", given.string(), "left out: " + run.error().reason, 0});
      continue;
    }
    run->agents.clear();
    runs.push_back(std::move(*run));
  }
  return runs;
}

}  // namespace

bool is_failure(State state) {
  return state != State::healthy && state != State::finished && state != State::unknown;
}

int run_diagnose(const DiagnoseOptions& options) {
  const auto settings = offline::load_settings(options.config);
  if (!settings) return terminal::fail(settings.error(), terminal::kWrongUse);
  auto packs = segment::RulePackSet::load(settings->frameworks);
  if (!packs) return terminal::fail(packs.error(), terminal::kWrongUse);
  auto library = load_faults(options, *settings);
  if (!library) return terminal::fail(library.error(), terminal::kWrongUse);

  std::vector<std::filesystem::path> all = options.paths;
  all.insert(all.end(), options.history.begin(), options.history.end());
  auto inputs = offline::Inputs::make(all, settings->archive_bytes_max);
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
  offline.agent.decode.zone = options.zone;
  offline.threads =
      options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  auto job = offline::read_job(*paths, *packs, templates, offline, progress);
  if (!job) return terminal::fail(job.error(), terminal::kNothingRead);
  const auto runs = read_history(options, *packs, templates, offline, *inputs, progress, warnings);
  line.stop();

  job->state->note(std::move(warnings));
  std::vector<const job::JobState*> healthy;
  healthy.reserve(runs.size());
  for (const offline::Job& run : runs) healthy.push_back(run.state.get());
  diagnose::Options how;
  how.as_of = options.as_of;
  how.mtimes_equal = job->mtimes_equal || offline::times_of_copy(*job->state);
  how.scoring = options.scoring == "paper" ? diagnose::Scoring::paper : diagnose::Scoring::l4;
  how.library = &*library;
  how.hang = settings->hang;
  diagnose::Diagnosis diagnosis = diagnose::diagnose(*job->state, healthy, how);
  diagnosis.report.version = L4_VERSION;
  offline::add_examples(diagnosis, *job);
  tell(diagnosis.report.warnings, options);
  if (const int written =
          terminal::write_text(render(diagnosis.report, options), options.out, "l4");
      written != terminal::kDone)
    return written;
  if (!options.lines.empty())
    if (const auto written = offline::write_lines(diagnosis, *job, options.lines); !written)
      return terminal::fail(written.error(), terminal::kWrongUse);
  // The process ends here: taking a large job's state apart piece by piece would only cost time.
  static const offline::Job* const kept = new offline::Job(std::move(*job));
  static_cast<void>(kept);
  if (options.exit_code && is_failure(diagnosis.report.verdict.state))
    return terminal::kFailureFound;
  return terminal::kDone;
}

}  // namespace l4::commands
