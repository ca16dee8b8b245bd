// What one agent knew of processes, for the one after it.
#include <algorithm>
#include <utility>

#include "agent/host/process_watch.h"

namespace l4::host {
namespace {

/// Whether an end was told is known a moment after it was; it is not told for ever because of that.
constexpr SinceBoot kToldAgainFor = std::chrono::hours{1};

}  // namespace

std::vector<ProcessWatch::Remembered> ProcessWatch::remembered() const {
  std::vector<Remembered> all;
  for (const auto& [id, process] : processes_) {
    if (!process.alive && process.fact.part == Part::other) continue;
    Remembered one{process.fact, {}, process.via, process.job_before, process.told};
    for (const FileKey& key : process.logs)
      if (const auto log = logs_.find(key); log != logs_.end()) one.logs.push_back(log->second);
    all.push_back(std::move(one));
  }
  return all;
}

void ProcessWatch::ends_are_told() {
  for (auto& [id, process] : processes_) {
    if (process.alive || process.told) continue;
    process.told = true;
    ++revision_;
  }
}

void ProcessWatch::resume(std::vector<Remembered> processes, const HostTime& now) {
  std::erase_if(processes, [&](const Remembered& one) {
    return boot_id_.empty() || one.fact.boot_id != boot_id_;
  });
  std::ranges::sort(processes, {}, [](const Remembered& one) {
    return std::pair(one.fact.attempt, one.fact.started_boot);
  });
  for (Remembered& one : processes) {
    if (processes_.size() >= options_.processes_max + options_.gone_max) break;
    const auto [at, fresh] = processes_.try_emplace({one.fact.pid, one.fact.started_boot});
    if (!fresh) continue;
    Watched& process = at->second;
    process.fact = std::move(one.fact);
    process.via = one.via;
    for (LogFile& log : one.logs) {
      const FileKey key = log.key;
      if (add_log(std::move(log))) process.logs.push_back(key);
    }
    ProcessFact& fact = process.fact;
    if (!fact.job.empty()) process.identity.job = {fact.job, Origin::derived, "before"};
    if (fact.part == Part::rank && fact.rank)
      attempts_.restore(on_node(fact.job, fact.node),
                        {fact.pid, fact.started_boot, *fact.rank, fact.attempt_key, fact.attempt});
    process.alive = fact.state != ProcessState::gone;
    if (process.alive) {
      process.job_before = one.job;
      fact.since = fact.cpu_since = now.wall;
      exits_.add(proc_, fact.pid, fact.started_boot);
      read_state(process, now);
    } else {
      const SinceBoot ago = std::max(now.wall - fact.since, Millis{0});
      process.left = std::max(now.boot - ago, fact.started_boot);
      process.told = one.told || ago > kToldAgainFor;
      process.changed = !process.told;
      if (!process.told) process.job_before = one.job;
    }
  }
}

}  // namespace l4::host
