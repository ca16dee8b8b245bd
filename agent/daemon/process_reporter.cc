#include "agent/daemon/process_reporter.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace l4::daemon {
namespace {

constexpr Millis kWatchEvery{1'000}, kWatchClosely{200}, kCloselyFor{4'000};
constexpr std::size_t kFactsMax = 8192;
/// The owner of a new log is decided, and saved, within this time.
constexpr Millis kOwnedWithin{20'000};

std::unique_ptr<host::ProcessWatch> make_watch(const Settings& settings, const host::Proc& proc) {
  if (!settings.processes) return nullptr;
  host::ProcessWatch::Options options;
  options.hints.config_job = settings.job;
  options.hints.config_node = settings.node;
  options.hints.config_rank = settings.rank;
  options.hints.config_local_rank = settings.local_rank;
  options.hints.config_world_size = settings.world_size;
  options.self = host::Pid{static_cast<std::int32_t>(::getpid())};
  return std::make_unique<host::ProcessWatch>(proc, std::move(options));
}

bool is_readable(int descriptor) {
  pollfd wait{descriptor, POLLIN, 0};
  return descriptor >= 0 && ::poll(&wait, 1, 0) > 0;
}

/// False if the path leads to another file by now, or nowhere.
bool is_there(const host::LogFile& log) {
  struct stat found{};
  return ::stat(log.path.c_str(), &found) == 0 &&
         host::FileKey{found.st_dev, found.st_ino} == log.key;
}

}  // namespace

ProcessReporter::ProcessReporter(const Settings& settings, const host::Proc& proc, OwnLog& log)
    : log_(log),
      watch_(make_watch(settings, proc)),
      file_((settings.state / "processes").string()),
      save_log_("processes", log) {}

void ProcessReporter::add_log(host::LogFile log, Millis steady) {
  if (!watch_ || !watch_->add_log(std::move(log))) return;
  owners_known_at_ = steady + kOwnedWithin;
  watch_closely(steady);
}

void ProcessReporter::remove_log(const host::FileKey& file) {
  if (watch_) watch_->remove_log(file);
}

void ProcessReporter::scan_soon(Millis steady) {
  if (watch_) watch_->ask_scan();
  watch_closely(steady);
}

void ProcessReporter::watch_closely(Millis steady) {
  due_at_ = steady;
  closely_until_ = steady + kCloselyFor;
}

bool ProcessReporter::poll(const Moment& now) {
  if (!watch_ || (now.steady < due_at_ && !is_readable(watch_->descriptor()))) return false;
  const std::vector<host::ProcessFact> changed = watch_->poll(now.host);
  log_.warn(watch_->flush_notices(), now.steady);
  for (const host::ProcessFact& fact : changed) {
    ends_unacked_ |= fact.state == host::ProcessState::gone;
    if (facts_.size() < kFactsMax) facts_.push_back(fact);
  }
  due_at_ = now.steady + (now.steady < closely_until_ ? kWatchClosely : kWatchEvery);
  return !changed.empty();
}

void ProcessReporter::publish(Jobs& jobs, const Intake& intake, bool undecided, Millis steady) {
  std::erase_if(facts_, [&](const host::ProcessFact& fact) {
    const auto* process = watch_->find(fact.pid, fact.started_boot);
    pipeline::JobPipeline* pipeline =
        jobs.find(process != nullptr ? intake.job_of(*process) : fact.job);
    // The logs of a job may be silent since the agent began, so that it has no pipeline yet.
    if (pipeline == nullptr && process != nullptr && !process->job_before.empty())
      pipeline = &jobs.of(process->job_before, steady);
    if (pipeline == nullptr) return process == nullptr || !undecided;
    pipeline->process(fact);
    return true;
  });
}

void ProcessReporter::report_all() {
  if (watch_) facts_ = watch_->facts();
}

void ProcessReporter::ack_ends() {
  if (!std::exchange(ends_unacked_, false)) return;
  L4_CHECK(watch_ != nullptr, "an exit was reported without a watch");
  watch_->ack_ends();
}

void ProcessReporter::resume(const Moment& now) {
  if (!watch_) return;
  auto loaded = file_.load();
  if (!loaded) return log_.warn(loaded.error().text(), now.steady);
  if (loaded->damaged > 0)
    log_.warn(
        fmt::format("{} rows of what is remembered of processes are damaged", loaded->damaged),
        now.steady);
  for (host::ProcessWatch::Remembered& one : loaded->processes)
    std::erase_if(one.logs, [](const host::LogFile& log) { return !is_there(log); });
  watch_->resume(std::move(loaded->processes), now.host);
}

void ProcessReporter::save(const Intake& intake, Millis steady) {
  if (!watch_ || (watch_->revision() == saved_revision_ && steady >= owners_known_at_)) return;
  const std::uint64_t revision = watch_->revision();
  auto processes = watch_->remembered();
  living_jobs_.clear();
  for (host::ProcessWatch::Remembered& one : processes) {
    if (!one.fact.job.empty()) one.job = one.fact.job;
    for (const host::LogFile& log : one.logs)
      if (one.job.empty()) one.job = intake.job_of(log.key);
    if (one.fact.state != host::ProcessState::gone) living_jobs_.insert(one.job);
  }
  saved_revision_ = save_log_.saved(file_.save(processes), steady) ? revision : 0;
}

}  // namespace l4::daemon
