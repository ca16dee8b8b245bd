#include "tools/l4/commands/pool/logs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/faults/library.h"
#include "aggregator/job/attempts.h"
#include "common/base/check.h"
#include "offline/file_times.h"
#include "offline/inputs.h"
#include "offline/offline.h"
#include "offline/settings.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/progress_line.h"

namespace l4::commands::pool {
namespace {

std::string name_of(const std::filesystem::path& given) {
  std::error_code ignored;
  auto path = std::filesystem::absolute(given, ignored).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

}  // namespace

ask::Answer<l4::pool::Run> read_healthy(const PoolOptions& options) {
  const auto settings = offline::load_settings(options.config);
  if (!settings) return std::unexpected(ask::Failure{settings.error(), terminal::kWrongUse});
  const auto packs = segment::RulePackSet::load(settings->frameworks);
  if (!packs) return std::unexpected(ask::Failure{packs.error(), terminal::kWrongUse});
  const auto library = l4::faults::Library::load(settings->faults);
  if (!library) return std::unexpected(ask::Failure{library.error(), terminal::kWrongUse});
  auto inputs = offline::Inputs::make({options.path}, settings->archive_bytes_max);
  if (!inputs) return std::unexpected(ask::Failure{inputs.error(), terminal::kNothingRead});
  offline::Progress progress;
  terminal::ProgressLine line(progress, isatty(STDERR_FILENO) != 0);
  std::vector<wire::Warning> warnings;
  const auto paths = inputs->resolve({options.path}, warnings, progress);
  if (!paths) return std::unexpected(ask::Failure{paths.error(), terminal::kNothingRead});
  job::TemplateTable templates;
  offline::Options offline;
  offline.private_folder = inputs->private_folder();
  offline.agent = settings->agent;
  offline.shares = settings->shares;
  offline.threads = std::max(1U, std::thread::hardware_concurrency());
  const auto job = offline::read_job(*paths, *packs, templates, offline, progress);
  line.stop();
  if (!job) return std::unexpected(ask::Failure{job.error(), terminal::kNothingRead});
  diagnose::Options how;
  how.library = &*library;
  how.mtimes_equal = job->mtimes_equal || offline::times_of_copy(*job->state);
  const diagnose::Report report = diagnose::diagnose(*job->state, {}, how).report;
  if (report.verdict.state != State::finished && !options.anyway)
    return ask::failed(options.path.string(),
                       fmt::format("is {}, not finished: {}; --anyway adds it nevertheless",
                                   l4::name(report.verdict.state), report.verdict.summary),
                       terminal::kFindings);
  const job::Attempts attempts(*job->state);
  L4_CHECK(!attempts.numbers().empty(), "job {} has no attempt", job->state->id());
  const job::JobView view = job::make_view(attempts, attempts.numbers().back(), false);
  l4::pool::Run run = l4::pool::make_run(view);
  run.job = options.name.empty() ? name_of(options.path) : options.name;
  run.id = l4::pool::run_id(run.job, run.attempt);
  run.origin = l4::pool::Origin::folder;
  // The run's age counts from here.
  run.ended = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  return run;
}

}  // namespace l4::commands::pool
