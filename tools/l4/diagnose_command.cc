#include "tools/l4/diagnose_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/report_text.h"
#include "tools/l4/config_paths.h"
#include "tools/l4/lines_writer.h"
#include "tools/l4/offline.h"
#include "tools/l4/progress_line.h"

namespace l4::cli {
namespace {

int fail(const Error& error, int exit) {
  std::cerr << "l4: " << error.text() << '\n';
  return exit;
}

Result<faults::Library> load_faults(const DiagnoseOptions& options) {
  if (options.no_faults) return faults::Library();
  return faults::Library::load(options.faults.empty() ? find_config_dir() / "faults"
                                                      : options.faults);
}

std::string render(const diagnose::Report& report, const DiagnoseOptions& options) {
  if (options.format == "json") return serve::to_json(report);
  serve::TextStyle style;
  style.color = options.out.empty() && isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  style.top = options.top;
  return serve::to_text(report, style);
}

Result<void> write(const std::string& text, const std::filesystem::path& out) {
  if (out.empty()) {
    std::cout << text << std::flush;
    return {};
  }
  std::ofstream file(out, std::ios::binary);
  file << text;
  file.close();
  if (!file) return std::unexpected(Error{out.string(), "cannot write the report"});
  return {};
}

bool is_failure(State state) {
  return state != State::healthy && state != State::finished && state != State::unknown;
}

}  // namespace

int run_diagnose(const DiagnoseOptions& options) {
  const auto config = find_config_dir();
  if (config.empty())
    return fail({"config", "no rule packs found; set L4_CONFIG_DIR to the folder that holds "
                           "frameworks/ and faults/"},
                kWrongUse);
  auto packs = segment::RulePackSet::load(config / "frameworks");
  if (!packs) return fail(packs.error(), kWrongUse);
  auto library = load_faults(options);
  if (!library) return fail(library.error(), kWrongUse);

  job::TemplateTable templates;
  OfflineOptions offline;
  offline.layout = options.layout;
  offline.agent.decode.zone = options.zone;
  offline.threads = options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  Progress progress;
  ProgressLine line(progress, isatty(STDERR_FILENO) != 0);
  auto job = read_job(options.paths, *packs, templates, offline, progress);
  if (!job) return fail(job.error(), kNothingRead);

  std::vector<OfflineJob> runs;
  std::vector<const job::JobState*> healthy;
  for (const std::filesystem::path& folder : options.history) {
    ++offline.job_index;
    auto run = read_job({folder}, *packs, templates, offline, progress);
    if (!run) {
      std::cerr << "l4: history left out: " << run.error().text() << '\n';
      continue;
    }
    run->agents.clear();
    runs.push_back(std::move(*run));
  }
  for (const OfflineJob& run : runs) healthy.push_back(run.state.get());
  line.stop();

  diagnose::Options how;
  how.as_of = options.as_of;
  how.mtimes_equal = job->mtimes_equal;
  how.scoring = options.scoring == "paper" ? diagnose::Scoring::paper : diagnose::Scoring::l4;
  how.library = &*library;
  diagnose::Diagnosis diagnosis = diagnose::diagnose(*job->state, healthy, how);
  diagnosis.report.version = L4_VERSION;
  add_examples(diagnosis, *job);
  for (const wire::Warning& warning : diagnosis.report.warnings)
    std::cerr << "l4: warning: " << warning.file << ": " << warning.reason << '\n';
  if (const auto written = write(render(diagnosis.report, options), options.out); !written)
    return fail(written.error(), kWrongUse);
  if (!options.lines.empty())
    if (const auto written = write_lines(diagnosis, *job, options.lines); !written)
      return fail(written.error(), kWrongUse);
  if (options.exit_code && is_failure(diagnosis.report.verdict.state)) return kFailureFound;
  return kDone;
}

}  // namespace l4::cli
