#include "agent/daemon/jobs.h"

#include <algorithm>

namespace l4::daemon {
namespace {

constexpr Millis kIdleMost{3'600'000};

}  // namespace

pipeline::JobPipeline& Jobs::of(const std::string& job, Millis steady) {
  auto found = jobs_.find(job);
  if (found == jobs_.end()) {
    if (jobs_.size() >= jobs_max_) {
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

void Jobs::flush(Millis steady, bool all) {
  for (auto& [name, job] : jobs_)
    if (job.pipeline->dirty()) {
      job.pipeline->flush(steady, all);
      job.used = steady;
    }
}

bool Jobs::dirty() const {
  return std::ranges::any_of(jobs_, [](const auto& job) { return job.second.pipeline->dirty(); });
}

void Jobs::restart() {
  for (auto& [name, job] : jobs_) job.pipeline->restart();
}

void Jobs::arrives(TimeMs now) {
  for (auto& [name, job] : jobs_) job.pipeline->arrives(now);
}

void Jobs::tidy(Millis steady) {
  std::erase_if(jobs_, [&](const auto& entry) {
    const Job& job = entry.second;
    return job.pipeline->logs() == 0 && !job.pipeline->dirty() && steady - job.used > kIdleMost;
  });
}

}  // namespace l4::daemon
