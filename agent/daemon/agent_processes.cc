// The processes behind the logs: watched, told to their jobs, remembered for the next agent.
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "agent/daemon/agent.h"

namespace l4::daemon {
namespace {

constexpr Millis kWatchEvery{1'000}, kWatchClosely{200}, kCloselyFor{4'000};
constexpr std::size_t kFactsMax = 8192;
/// By then it is decided whose a new log is, and remembered.
constexpr Millis kOwnedWithin{20'000};

bool is_readable(int descriptor) {
  pollfd wait{descriptor, POLLIN, 0};
  return descriptor >= 0 && ::poll(&wait, 1, 0) > 0;
}

/// Its number may be another file's by now.
bool is_there(const host::LogFile& log) {
  struct stat found{};
  return ::stat(log.path.c_str(), &found) == 0 &&
         host::FileKey{found.st_dev, found.st_ino} == log.key;
}

}  // namespace

void Agent::found(const tail::TextPosition& place, const std::string& root) {
  if (!watch_ || place.file.inode == 0) return;
  const host::FileKey key{place.file.device, place.file.inode};
  if (!watch_->add_log({place.path, owners_.node_of_path(place.path, root), key})) return;
  owned_by_ = now_.steady + kOwnedWithin;
  watch_closely();
}

/// From now on: who writes a log shows a moment after it was found.
void Agent::watch_closely() {
  watch_at_ = now_.steady;
  watch_closely_until_ = now_.steady + kCloselyFor;
}

void Agent::watch_processes() {
  if (!watch_ || (now_.steady < watch_at_ && !is_readable(watch_->descriptor()))) return;
  const std::vector<host::ProcessFact> changed = watch_->poll(now_.host);
  tell(watch_->take_notices());
  if (!changed.empty()) intake_.look_again();
  for (const host::ProcessFact& fact : changed) {
    ends_wait_ |= fact.state == host::ProcessState::gone;
    if (facts_.size() < kFactsMax) facts_.push_back(fact);
  }
  const bool closely = now_.steady < watch_closely_until_;
  watch_at_ = now_.steady + (closely ? kWatchClosely : kWatchEvery);
}

/// Facts go with the batches of the job that they name, or that their logs belong to.
void Agent::tell_processes() {
  std::erase_if(facts_, [&](const host::ProcessFact& fact) {
    const auto* process = watch_->find(fact.pid, fact.started_boot);
    pipeline::JobPipeline* pipeline =
        jobs_.find(process != nullptr ? intake_.job_of(*process) : fact.job);
    // Its logs may say nothing any more, and then nobody has asked for their job.
    if (pipeline == nullptr && process != nullptr && !process->job_before.empty())
      pipeline = &jobs_.of(process->job_before, now_.steady);
    if (pipeline == nullptr) return process == nullptr || !decide_in_;
    pipeline->process(fact);
    return true;
  });
}

/// What the agent before this one watched: whose its logs are is known at once, and who has ended
/// meanwhile is told.
void Agent::resume_processes() {
  auto loaded = watch_file_.load();
  if (!loaded) return world_.log->warn(loaded.error().text(), now_.steady);
  if (loaded->damaged > 0)
    world_.log->warn(
        fmt::format("{} rows of what is remembered of processes are damaged", loaded->damaged),
        now_.steady);
  for (host::ProcessWatch::Remembered& one : loaded->processes)
    std::erase_if(one.logs, [](const host::LogFile& log) { return !is_there(log); });
  watch_->resume(std::move(loaded->processes), now_.host);
}

void Agent::remember_processes() {
  const std::uint64_t revision = watch_->revision();
  auto processes = watch_->remembered();
  living_.clear();
  for (host::ProcessWatch::Remembered& one : processes) {
    if (!one.fact.job.empty()) one.job = one.fact.job;
    for (const host::LogFile& log : one.logs)
      if (one.job.empty()) one.job = intake_.job_of(log.key);
    if (one.fact.state != host::ProcessState::gone) living_.insert(one.job);
  }
  const bool saved = kept("processes", watch_file_.save(processes), processes_badly_);
  remembered_ = saved ? revision : 0;
}

}  // namespace l4::daemon
