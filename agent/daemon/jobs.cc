#include "agent/daemon/jobs.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/earliest.h"

namespace l4::daemon {
namespace {

constexpr std::size_t kCrowd = 8;  // idle jobs, or an eighth of the bound

}  // namespace

pipeline::JobPipeline& Jobs::of(const std::string& job, Millis steady) {
  auto found = jobs_.find(job);
  if (found == jobs_.end()) {
    if (jobs_.size() >= bounds_.jobs_max) {
      ++refused_;
      return *jobs_.begin()->second.pipeline;
    }
    found = jobs_.emplace(job, Job{}).first;
    found->second.pipeline = std::make_unique<pipeline::JobPipeline>(job, packs_, options_, *this);
  }
  found->second.used = steady;
  return *found->second.pipeline;
}

pipeline::JobPipeline* Jobs::find(const std::string& job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : found->second.pipeline.get();
}

pipeline::JobPipeline& Jobs::fed(const std::string& job, Millis steady) {
  const auto found = jobs_.find(job);
  L4_CHECK(found != jobs_.end(), "job {} has logs but no pipeline", job);
  found->second.used = steady;
  return *found->second.pipeline;
}

pipeline::JobPipeline& Jobs::first() {
  L4_CHECK(!jobs_.empty(), "no job has a pipeline");
  return *jobs_.begin()->second.pipeline;
}

void Jobs::flush(Millis steady, bool all) {
  for (auto& [name, job] : jobs_)
    if (job.pipeline->dirty()) job.pipeline->flush(steady, all);
}

bool Jobs::dirty() const {
  return std::ranges::any_of(jobs_, [](const auto& job) { return job.second.pipeline->dirty(); });
}

std::optional<Millis> Jobs::due() const {
  std::optional<Millis> first;
  for (const auto& [name, job] : jobs_) keep_earliest(first, job.pipeline->due());
  return first;
}

void Jobs::restart() {
  for (auto& [name, job] : jobs_) job.pipeline->restart();
}

void Jobs::arrives(const wire::Instant& now) {
  for (auto& [name, job] : jobs_) job.pipeline->set_arrival(now);
}

std::size_t Jobs::idle(Millis steady, const std::set<std::string>& living) const {
  return static_cast<std::size_t>(std::ranges::count_if(jobs_, [&](const auto& entry) {
    return steady - entry.second.used >= bounds_.idle_after && !living.contains(entry.first);
  }));
}

std::vector<std::string> Jobs::lately(Millis steady, Millis most,
                                      const std::set<std::string>& living) const {
  std::vector<std::string> names;
  for (const auto& [name, job] : jobs_)
    if (steady - job.used < most || living.contains(name)) names.push_back(name);
  return names;
}

bool Jobs::crowded(Millis steady, const std::set<std::string>& living) const {
  const std::size_t idle = this->idle(steady, living);
  const bool full = jobs_.size() >= bounds_.jobs_max;
  return idle >= (full ? 1 : std::clamp<std::size_t>(bounds_.jobs_max / 8, 1, kCrowd));
}

}  // namespace l4::daemon
