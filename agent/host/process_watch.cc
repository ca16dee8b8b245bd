#include "agent/host/process_watch.h"

#include <algorithm>
#include <utility>

#include "common/base/earliest.h"

namespace l4::host {
namespace {

constexpr int kRetriesMax = 6;  // 1, 2, 4, ... 32 s
/// A scan costs about 2 us a descriptor; this keeps it within a few per cent of a core.
constexpr SinceBoot kPerDescriptor{50};
/// Lines about a process may be stamped a little before or after we saw it come and go.
constexpr SinceBoot kSlack = std::chrono::seconds{2};
constexpr std::uint64_t kRoundsOfHelpers = 4;
constexpr SinceBoot kYoung = std::chrono::seconds{30};

/// Running and sleeping alternate all the time and mean the same.
ProcessState comparable(ProcessState state) {
  return state == ProcessState::running ? ProcessState::sleeping : state;
}

std::string sentence(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string{what};
}

/// An exit whose acknowledgement was not saved is reported again within this time only.
constexpr SinceBoot kReportAgainFor = std::chrono::hours{1};

}  // namespace

ProcessWatch::ProcessWatch(Proc proc, Options options)
    : proc_(std::move(proc)), options_(std::move(options)), exits_(options_.pidfds_max) {
  boot_id_ = read_small(options_.boot_id_path, 64).value_or("");
  while (!boot_id_.empty() && boot_id_.back() <= ' ') boot_id_.pop_back();
}

ProcessWatch::~ProcessWatch() = default;

bool ProcessWatch::add_log(LogFile log) {
  if (const auto known = logs_.find(log.key); known != logs_.end()) {
    if (known->second.path != log.path) ++revision_;
    known->second = std::move(log);  // renamed
    return true;
  }
  if (logs_.size() >= options_.logs_max) {
    ++stats_.logs_refused;
    notices_.add("logs", "more log files than processes are looked for: " +
                             std::to_string(options_.logs_max));
    return false;
  }
  logs_.emplace(log.key, std::move(log));
  scan_asked_ = true;
  return true;
}

void ProcessWatch::remove_log(const FileKey& key) {
  logs_.erase(key);
  for (auto& [id, process] : processes_) revision_ += std::erase(process.logs, key);
}

bool ProcessWatch::has_rank(const FileKey& key) const {
  return std::ranges::any_of(processes_, [&](const auto& entry) {
    const Watched& process = entry.second;
    return process.alive && process.fact.part == Part::rank &&
           std::ranges::find(process.logs, key) != process.logs.end();
  });
}

void ProcessWatch::scan(const HostTime& now) {
  if (!scan_) {
    const bool due = scan_asked_ || (retry_at_ && now.boot >= *retry_at_);
    if (!due || logs_.empty() || now.boot < scan_not_before_) return;
    if (scan_asked_) retries_ = 0;
    scan_asked_ = false;
    retry_at_.reset();
    std::vector<LogPlace> places;
    scanned_.clear();
    for (const auto& [key, log] : logs_) {
      scanned_.push_back(log);
      places.push_back({log.path, key});
    }
    scan_ =
        std::make_unique<HolderScan>(proc_, std::move(places), options_.self, HolderScan::Limits{});
  }
  if (!scan_->step(options_.descriptors_per_poll)) return;
  ++stats_.scans;
  stats_.last_scan = scan_->stats();
  stats_.descriptors += stats_.last_scan.descriptors;
  const SinceBoot by_size = kPerDescriptor * static_cast<std::int64_t>(std::min<std::uint64_t>(
                                                 stats_.last_scan.descriptors, 10'000'000));
  scan_not_before_ = now.boot + std::max<SinceBoot>(options_.scan_gap_min, by_size);
  merge(find_processes(proc_, scanned_, scan_->holdings(), options_.hints, options_.processes_max),
        now);
  scan_.reset();
  const bool alone =
      std::ranges::any_of(logs_, [&](const auto& log) { return !has_rank(log.first); });
  // A process between fork and exec shows the environment of its parent, or none.
  const bool unsettled = std::ranges::any_of(processes_, [&](const auto& entry) {
    const Watched& process = entry.second;
    return process.alive && process.fact.part != Part::launcher &&
           process.fact.rank_source != RankSource::env &&
           now.boot < process.fact.started_boot + kYoung;
  });
  if (alone && stats_.last_scan.denied > 0)
    notices_.add("processes_denied",
                 sentence(stats_.last_scan.denied,
                          "processes may not be looked into (CAP_SYS_PTRACE): for some log files "
                          "it is not known who writes them"));
  if ((alone || unsettled) && retries_ < kRetriesMax)
    retry_at_ = now.boot + std::chrono::seconds{std::int64_t{1} << retries_++};
}

void ProcessWatch::number(Watched& process, std::int32_t path_attempt) {
  const ProcessFact& fact = process.fact;
  process.fact.attempt =
      attempts_.assign(on_node(fact.job, fact.node),
                       {fact.pid, fact.started_boot, *fact.rank, fact.attempt_key, path_attempt},
                       [&](Pid pid, SinceBoot started) {
                         const auto found = processes_.find({pid, started});
                         return found != processes_.end() && found->second.alive;
                       });
  if (attempts_.doubles() > 0)
    notices_.add("rank_double", "two living processes have the same rank of job \"" + fact.job +
                                    "\": rank " + std::to_string(fact.rank->value()));
}

void ProcessWatch::merge(const Found& found, const HostTime& now) {
  if (found.environments_denied > 0)
    notices_.add("environment_denied",
                 sentence(found.environments_denied,
                          "processes do not show their environment (CAP_SYS_PTRACE): ranks come "
                          "from paths where these name them"));
  if (found.left_out > 0)
    notices_.add("processes", sentence(found.left_out, "processes too many are not watched"));
  if (found.of_two_nodes > 0)
    notices_.add("nodes",
                 sentence(found.of_two_nodes,
                          "processes write log files of several nodes; the node of most of "
                          "them counts"));
  for (const FoundProcess& one : found.processes) {
    const auto id = std::pair{one.stat.pid, one.stat.started};
    auto at = processes_.find(id);
    const bool fresh = at == processes_.end();
    if (fresh) {
      if (processes_.size() >= options_.processes_max + options_.gone_max && !forget_oldest()) {
        notices_.add("processes", "too many processes: some are not watched");
        continue;
      }
      at = processes_.emplace(id, Watched{}).first;
      begin(at->second, one, now);
    }
    if (at->second.alive) update(at->second, one);
  }
}

void ProcessWatch::begin(Watched& process, const FoundProcess& one, const HostTime& now) {
  ProcessFact& fact = process.fact;
  fact.boot_id = boot_id_;
  fact.pid = one.stat.pid;
  fact.started_boot = one.stat.started;
  fact.started = wall_of(one.stat.started, now);
  fact.state = one.stat.state;
  fact.since = fact.cpu_since = now.wall;
  fact.cpu = one.stat.cpu;
  exits_.add(proc_, fact.pid, fact.started_boot);
}

void ProcessWatch::update(Watched& process, const FoundProcess& one) {
  const ProcessFact before = process.fact;
  ProcessFact& fact = process.fact;
  process.via = one.via;
  if (!one.ranks_job.empty()) process.ranks_job = one.ranks_job;
  for (const std::size_t log : one.logs)
    if (std::ranges::find(process.logs, scanned_[log].key) == process.logs.end()) {
      process.logs.push_back(scanned_[log].key);
      ++revision_;
    }
  // A process that is about to exit hides its environment; keep what was known.
  const bool knew = before.part == Part::rank || before.part == Part::helper;
  if (knew && one.part == Part::other) return;
  Known<std::string> job = std::move(process.identity.job);
  process.identity = one.identity;
  if (!process.identity.job)
    process.identity.job = std::move(job);  // the process closed the file that named its job
  const Identity& who = process.identity;
  const bool helped = before.part == Part::helper && before.command == one.stat.command &&
                      before.rank == who.rank.value;
  const bool helps = one.part == Part::rank && (helped || orphaned(process));
  fact.command = one.stat.command;
  fact.part = helps ? Part::helper : one.part;
  fact.node = one.node.empty() ? who.node.value.value_or("") : one.node;
  fact.job = who.job.value.value_or("");
  fact.rank = who.rank.value;
  fact.rank_source = rank_source(who.rank.origin);
  fact.local_rank = who.local_rank.value;
  fact.world_size = who.world_size.value;
  fact.attempt_key = who.attempt.value.value_or(AttemptKey{});
  const bool same = before.rank == fact.rank && before.job == fact.job &&
                    before.attempt_key == fact.attempt_key && before.part == fact.part;
  const std::int32_t path_attempt = who.path_attempt.value.value_or(0);
  if (!same && before.part == Part::rank && before.rank)
    attempts_.withdraw(on_node(before.job, before.node), *before.rank, fact.pid, fact.started_boot);
  if (!same && fact.part == Part::rank && fact.rank) number(process, path_attempt);
  if (!same && fact.part != Part::rank)
    fact.attempt = std::max(path_attempt, attempts_.current(on_node(fact.job, fact.node)));
  process.changed |= fact != before;
}

/// Whether the rank that the process helped has ended. The process began while that rank ran, so it
/// is not a restart of the rank.
bool ProcessWatch::orphaned(const Watched& process) const {
  const Identity& who = process.identity;
  const SinceBoot started = process.fact.started_boot;
  return std::ranges::any_of(processes_, [&](const auto& entry) {
    const Watched& other = entry.second;
    return !other.alive && other.fact.part == Part::rank && other.fact.rank == who.rank.value &&
           other.fact.job == who.job.value.value_or("") &&
           other.fact.attempt_key == who.attempt.value.value_or(AttemptKey{}) &&
           other.fact.started_boot <= started && started + kSlack < other.left;
  });
}

void ProcessWatch::left(Watched& process, const Exit& exit, const HostTime& now) {
  process.alive = false;
  process.left = now.boot;
  process.fact.state = ProcessState::gone;
  process.fact.since = now.wall;
  process.fact.exit = exit;
  process.changed = true;
  exits_.remove(process.fact.pid);
  ++stats_.exits;
  scan_asked_ = true;  // a restart may take the place of this process
}

void ProcessWatch::read_state(Watched& process, const HostTime& now) {
  ProcessFact& fact = process.fact;
  const auto stat = proc_.stat(fact.pid);
  if (!stat && stat.error() != Unseen::gone) return;
  if (!stat || stat->started != fact.started_boot || stat->state == ProcessState::gone) {
    left(process, exit_of(proc_, fact.pid, fact.started_boot, -1), now);
    return;
  }
  const bool ran = stat->cpu > fact.cpu;
  if (ran) {
    fact.cpu = stat->cpu;
    fact.cpu_since = now.wall;
  }
  // The process has called exec since it was scanned.
  if (stat->command != fact.command && now.boot < fact.started_boot + kYoung) scan_asked_ = true;
  ProcessState state = stat->state;
  if (state == ProcessState::uninterruptible && fact.state != state && !process.waits_since) {
    process.waits_since = now.wall;  // most waits in state D are short
    return;
  }
  // The process ran for a part of the time since the last poll.
  if (state == ProcessState::stopped && ran) {
    process.waits_since = now.wall;
    if (fact.state != state) return;
    state = ProcessState::sleeping;
  }
  const bool waits = state == ProcessState::uninterruptible || stat->state == ProcessState::stopped;
  if (comparable(state) != comparable(fact.state)) {
    fact.since = waits ? process.waits_since.value_or(now.wall) : now.wall;
    process.changed = true;
  }
  if (!waits) process.waits_since.reset();
  fact.state = state;
  fact.command = stat->command;
}

bool ProcessWatch::forget_oldest() {
  auto oldest = processes_.end();
  for (auto at = processes_.begin(); at != processes_.end(); ++at)
    if (!at->second.alive && (oldest == processes_.end() || at->second.left < oldest->second.left))
      oldest = at;
  if (oldest == processes_.end()) return false;
  processes_.erase(oldest);
  ++revision_;
  ++stats_.gone_forgotten;
  return true;
}

std::vector<ProcessFact> ProcessWatch::poll(const HostTime& now) {
  for (const ExitWatch::Left& one : exits_.poll(proc_)) {
    for (auto& [id, process] : processes_)
      if (id.first == one.pid && process.alive) left(process, one.exit, now);
  }
  scan(now);
  if (!states_at_ || now.boot >= *states_at_) {
    states_at_ = now.boot + options_.state_every;
    // Data loader workers are many and matter less; the pidfd of each reports its exit at once.
    const bool all = ++rounds_ % kRoundsOfHelpers == 0;
    for (auto& [id, process] : processes_) {
      const bool helps = process.fact.part == Part::helper || process.fact.part == Part::other;
      if (process.alive && (all || !helps)) read_state(process, now);
    }
  }
  std::vector<ProcessFact> changed;
  for (auto& [id, process] : processes_) {
    if (!process.changed) continue;
    process.changed = false;
    ++revision_;
    changed.push_back(process.fact);
  }
  return changed;
}

std::vector<ProcessFact> ProcessWatch::facts() const {
  std::vector<ProcessFact> all;
  all.reserve(processes_.size());
  for (const auto& [id, process] : processes_) all.push_back(process.fact);
  return all;
}

const ProcessWatch::Process* ProcessWatch::find(Pid pid, SinceBoot when) const {
  const Watched* best = nullptr;
  for (auto at = processes_.lower_bound({pid, SinceBoot{0}});
       at != processes_.end() && at->first.first == pid; ++at) {
    const Watched& process = at->second;
    if (process.fact.started_boot > when + kSlack) continue;
    if (!process.alive && process.left + kSlack < when) continue;
    best = &process;  // ascending by start
  }
  return best;
}

std::vector<const ProcessWatch::Process*> ProcessWatch::ranks_of(const FileKey& key) const {
  return writers_of(key, [](const Process& process) { return process.fact.part == Part::rank; });
}

std::vector<const ProcessWatch::Process*> ProcessWatch::writers_of(const FileKey& key) const {
  return writers_of(key, [](const Process&) { return true; });
}

template <class Wanted>
std::vector<const ProcessWatch::Process*> ProcessWatch::writers_of(const FileKey& key,
                                                                   Wanted wanted) const {
  std::vector<const Watched*> all;
  for (const auto& [id, process] : processes_)
    if (wanted(process) && std::ranges::find(process.logs, key) != process.logs.end())
      all.push_back(&process);
  if (all.empty()) return {};
  const Watched& newest = **std::ranges::max_element(all, {}, [](const Watched* process) {
    return std::pair(process->alive, process->fact.started_boot);
  });
  std::vector<const Process*> found;
  for (const Watched* process : all) {
    const bool same_start =
        process->fact.job == newest.fact.job && process->fact.attempt == newest.fact.attempt;
    if (!process->alive && !same_start) continue;
    if (!found.empty() && process->via > found.front()->via) continue;
    if (!found.empty() && process->via < found.front()->via) found.clear();
    found.push_back(process);
  }
  return found;
}

std::optional<std::int32_t> ProcessWatch::first_attempt(const FileKey& key,
                                                        const std::string& job) const {
  std::optional<std::int32_t> first;
  for (const auto& [id, process] : processes_) {
    const ProcessFact& fact = process.fact;
    if (fact.part != Part::rank || fact.job != job) continue;
    if (std::ranges::find(process.logs, key) == process.logs.end()) continue;
    first = std::min(first.value_or(fact.attempt), fact.attempt);
  }
  return first;
}

std::optional<SinceBoot> ProcessWatch::began(const std::string& job) const {
  std::optional<SinceBoot> first;
  for (const auto& [id, process] : processes_)
    if (process.fact.job == job) keep_earliest(first, id.second);
  return first;
}

std::vector<ProcessWatch::Remembered> ProcessWatch::remembered() const {
  std::vector<Remembered> all;
  for (const auto& [id, process] : processes_) {
    if (!process.alive && process.fact.part == Part::other) continue;
    Remembered one{process.fact, {}, process.via, process.job_before, process.acked};
    for (const FileKey& key : process.logs)
      if (const auto log = logs_.find(key); log != logs_.end()) one.logs.push_back(log->second);
    all.push_back(std::move(one));
  }
  return all;
}

void ProcessWatch::ack_ends() {
  for (auto& [id, process] : processes_) {
    if (process.alive || process.acked) continue;
    process.acked = true;
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
      process.acked = one.acked || ago > kReportAgainFor;
      process.changed = !process.acked;
      if (!process.acked) process.job_before = one.job;
    }
  }
}

}  // namespace l4::host
