#include "agent/host/attempts.h"

#include <algorithm>

namespace l4::host {
namespace {

constexpr std::size_t kJobsMax = 256, kAttemptsMax = 64;
constexpr SinceBoot kApart = std::chrono::seconds{10};

std::int32_t bounded(std::uint32_t count) {
  return static_cast<std::int32_t>(std::min(count, 1'000'000U));
}

}  // namespace

/// Whether the process begins a new start after `attempt`, the last one with the same counts.
bool AttemptTable::restarted(const Attempt& attempt, const Process& process, const Alive& alive) {
  const auto former = attempt.ranks.find(process.rank);
  if (former != attempt.ranks.end()) {
    const Holder& holder = former->second;
    if (holder.pid == process.pid && holder.started == process.started) return false;
    if (!alive(holder.pid, holder.started)) return true;
    ++doubles_;
    return false;
  }
  return !attempt.ranks.empty() && std::ranges::all_of(attempt.ranks, [&](const auto& rank) {
    const Holder& holder = rank.second;
    return process.started > holder.started + kApart && !alive(holder.pid, holder.started);
  });
}

AttemptTable::Job& AttemptTable::job_of(const std::string& job) {
  if (!jobs_.contains(job) && jobs_.size() >= kJobsMax)
    jobs_.erase(std::min_element(jobs_.begin(), jobs_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    }));
  Job& it = jobs_[job];
  it.used = ++uses_;
  return it;
}

std::int32_t AttemptTable::assign(const std::string& job, const Process& process,
                                  const Alive& alive) {
  Job& it = job_of(job);
  const auto same = std::find_if(it.attempts.rbegin(), it.attempts.rend(),
                                 [&](const Attempt& a) { return a.key == process.key; });
  Attempt* attempt = same == it.attempts.rend() ? nullptr : &*same;
  const bool again = attempt != nullptr && restarted(*attempt, process, alive);
  if (attempt == nullptr || again) {
    Attempt next;
    next.key = process.key;
    // A node that joins after a requeue knows only the scheduler's count.
    next.number =
        std::max(bounded(process.key.requeue) + bounded(process.key.restart), process.path_attempt);
    if (!it.attempts.empty()) {
      const Attempt& last = it.attempts.back();
      const bool only_restart = last.key.requeue == process.key.requeue &&
                                last.key.step == process.key.step &&
                                process.key.restart > last.key.restart;
      const std::int32_t more = only_restart ? bounded(process.key.restart - last.key.restart) : 1;
      // A process that is found late, and began before the last attempt, keeps its own count.
      if (again || process.key > last.key) next.number = std::max(next.number, last.number + more);
    }
    const bool late = !it.attempts.empty() && process.key < it.attempts.back().key && !again;
    if (late) {
      it.attempts.push_front(std::move(next));
      attempt = &it.attempts.front();
    } else {
      it.attempts.push_back(std::move(next));
      attempt = &it.attempts.back();
    }
  }
  attempt->ranks[process.rank] = {process.pid, process.started};
  const std::int32_t number = attempt->number;
  while (it.attempts.size() > kAttemptsMax) it.attempts.pop_front();
  return number;
}

void AttemptTable::restore(const std::string& job, const Process& process) {
  std::deque<Attempt>& attempts = job_of(job).attempts;
  const auto at = std::ranges::find_if(
      attempts, [&](const Attempt& a) { return a.number >= process.path_attempt; });
  const bool known = at != attempts.end() && at->number == process.path_attempt;
  Attempt& attempt = known ? *at : *attempts.insert(at, Attempt{});
  attempt.number = process.path_attempt;
  attempt.key = std::max(attempt.key, process.key);
  attempt.ranks[process.rank] = {process.pid, process.started};
  while (attempts.size() > kAttemptsMax) attempts.pop_front();
}

void AttemptTable::withdraw(const std::string& job, Rank rank, Pid pid, SinceBoot started) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  for (Attempt& attempt : found->second.attempts)
    std::erase_if(attempt.ranks, [&](const auto& entry) {
      return entry.first == rank && entry.second.pid == pid && entry.second.started == started;
    });
}

std::int32_t AttemptTable::current(const std::string& job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() || found->second.attempts.empty()
             ? 0
             : found->second.attempts.back().number;
}

}  // namespace l4::host
