#include "tools/l4/pool_logs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/job/attempts.h"
#include "tools/l4/file_times.h"
#include "tools/l4/inputs.h"
#include "tools/l4/offline.h"
#include "tools/l4/progress_line.h"
#include "tools/l4/settings.h"

namespace l4::cli {
namespace {

std::string name_of(const std::filesystem::path& given) {
  std::error_code ignored;
  auto path = std::filesystem::absolute(given, ignored).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

}  // namespace

Answer<pool::Run> read_healthy(const PoolOptions& options) {
  const auto settings = load_settings(options.config);
  if (!settings) return std::unexpected(Failure{settings.error(), kWrongUse});
  const auto packs = segment::RulePackSet::load(settings->frameworks);
  if (!packs) return std::unexpected(Failure{packs.error(), kWrongUse});
  const auto library = faults::Library::load(settings->faults);
  if (!library) return std::unexpected(Failure{library.error(), kWrongUse});
  auto inputs = Inputs::make({options.path}, settings->archive_bytes_max);
  if (!inputs) return std::unexpected(Failure{inputs.error(), kNothingRead});
  Progress progress;
  ProgressLine line(progress, isatty(STDERR_FILENO) != 0);
  std::vector<wire::Warning> warnings;
  const auto paths = inputs->resolve({options.path}, warnings, progress);
  if (!paths) return std::unexpected(Failure{paths.error(), kNothingRead});
  job::TemplateTable templates;
  OfflineOptions offline;
  offline.private_folder = inputs->private_folder();
  offline.agent = settings->agent;
  offline.shares = settings->shares;
  offline.threads = std::max(1U, std::thread::hardware_concurrency());
  const auto job = read_job(*paths, *packs, templates, offline, progress);
  line.stop();
  if (!job) return std::unexpected(Failure{job.error(), kNothingRead});
  diagnose::Options how;
  how.library = &*library;
  how.mtimes_equal = job->mtimes_equal || times_of_copy(*job->state);
  const diagnose::Report report = diagnose::diagnose(*job->state, {}, how).report;
  if (report.verdict.state != State::finished && !options.anyway)
    return failed(options.path.string(),
                  fmt::format("is {}, not finished: {}; --anyway adds it nevertheless",
                              l4::name(report.verdict.state), report.verdict.summary),
                  kFindings);
  const job::Attempts attempts(*job->state);
  const job::JobView view = job::make_view(attempts, attempts.numbers().back(), false);
  pool::Run run = pool::make_run(view);
  run.job = options.name.empty() ? name_of(options.path) : options.name;
  run.id = pool::run_id(run.job, run.attempt);
  run.origin = pool::Origin::folder;
  run.ended = std::chrono::floor<Millis>(std::chrono::system_clock::now());  // it ages from here
  return run;
}

}  // namespace l4::cli
