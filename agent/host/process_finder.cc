#include "agent/host/process_finder.h"

#include <algorithm>
#include <map>
#include <set>

#include "agent/host/roles.h"

namespace l4::host {
namespace {

constexpr std::size_t kAncestorsMax = 64, kCommandLineBytes = 4096;

/// Cache of parents.
class Parents {
 public:
  explicit Parents(const Proc& proc) : proc_(proc) {}
  void know(Pid pid, Pid parent) { parent_[pid] = parent; }
  std::vector<Pid> ancestors(Pid pid) {
    std::vector<Pid> chain;
    for (Pid at = parent(pid); at.value() > 1 && chain.size() < kAncestorsMax; at = parent(at))
      chain.push_back(at);
    return chain;
  }

 private:
  Pid parent(Pid pid) {
    const auto found = parent_.find(pid);
    if (found != parent_.end()) return found->second;
    const auto stat = proc_.stat(pid);
    return parent_[pid] = stat ? stat->parent : Pid{};
  }
  const Proc& proc_;
  std::map<Pid, Pid> parent_;
};

/// Node of most of the logs; of two nodes with as many logs, the first by name.
std::string node_of(const std::vector<LogFile>& logs, const std::vector<std::size_t>& held,
                    std::size_t& of_two) {
  std::map<std::string_view, std::size_t> votes;
  for (const std::size_t log : held)
    if (!logs[log].node.empty()) ++votes[logs[log].node];
  if (votes.size() > 1) ++of_two;
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == votes.end() ? std::string{} : std::string{most->first};
}

void gather(const std::vector<Holding>& holdings, std::vector<FoundProcess>& out) {
  for (const Holding& holding : holdings) {  // sorted by process
    if (out.empty() || out.back().stat.pid != holding.pid) {
      FoundProcess process;
      process.stat.pid = holding.pid;
      process.stat.started = holding.started;
      process.via = holding.via;
      out.push_back(std::move(process));
    }
    out.back().logs.push_back(holding.log);
    out.back().via = std::min(out.back().via, holding.via);
  }
}

/// A launcher may write a log far from those of its ranks, and not know their job: a shell, srun.
void note_jobs_of_ranks(std::vector<FoundProcess>& processes,
                        const std::vector<Candidate>& candidates) {
  for (std::size_t i = 0; i < processes.size(); ++i) {
    FoundProcess& launcher = processes[i];
    if (launcher.part != Part::launcher || launcher.identity.job) continue;
    Known<std::string> job;
    bool one = true;
    for (std::size_t j = 0; j < processes.size(); ++j) {
      const Known<std::string>& named = processes[j].identity.job;
      if (processes[j].part != Part::rank || !named ||
          std::ranges::find(candidates[j].ancestors, launcher.stat.pid) ==
              candidates[j].ancestors.end())
        continue;
      one &= !job || *job == *named;
      job = named;
    }
    if (one && job) launcher.ranks_job = *job;
  }
}

}  // namespace

Found find_processes(const Proc& proc, const std::vector<LogFile>& logs,
                     const std::vector<Holding>& holdings, const IdentityHints& hints,
                     std::size_t processes_max) {
  Found found;
  std::vector<FoundProcess> all;
  gather(holdings, all);
  if (all.size() > processes_max) {
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.via < b.via; });
    found.left_out = all.size() - processes_max;
    all.resize(processes_max);
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.stat.pid < b.stat.pid; });
  }
  Parents parents{proc};
  std::vector<Candidate> candidates;
  for (FoundProcess& process : all) {
    const auto stat = proc.stat(process.stat.pid);
    if (!stat || stat->started != process.stat.started) continue;
    if (stat->state == ProcessState::gone) continue;  // a zombie shows no environment
    process.stat = *stat;
    parents.know(stat->pid, stat->parent);
    const auto environment = read_environment(proc, stat->pid);
    if (!environment && environment.error() == Unseen::denied) ++found.environments_denied;
    process.node = node_of(logs, process.logs, found.of_two_nodes);
    IdentityHints own = hints;
    own.node = process.node;
    for (const std::size_t log : process.logs)
      own.paths.push_back(discover::facts_of(discover::split_path(logs[log].path)));
    const std::string command = proc.text(stat->pid, "cmdline", kCommandLineBytes).value_or("");
    own.rendezvous = rendezvous_of(command);
    process.identity = identify(environment.value_or(Environment{}), own);
    Candidate candidate;
    candidate.pid = stat->pid;
    candidate.rank = process.identity.rank.value;
    candidate.rule = process.identity.rule;
    candidate.launcher_name = names_launcher(command);
    candidate.wrapper_name = names_wrapper(stat->command);
    candidates.push_back(std::move(candidate));
    found.processes.push_back(std::move(process));
  }
  for (Candidate& candidate : candidates) candidate.ancestors = parents.ancestors(candidate.pid);
  const std::vector<Part> parts = assign_parts(candidates);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    FoundProcess& process = found.processes[i];
    process.part = parts[i];
    // The number of a launcher's own task is not a rank.
    if (process.part == Part::launcher || process.part == Part::other) {
      process.identity.rank = {};
      process.identity.local_rank = {};
    }
  }
  note_jobs_of_ranks(found.processes, candidates);
  // A scan finds all processes of a container; those without a part do not matter.
  std::erase_if(found.processes, [](const FoundProcess& process) {
    return process.via == Via::container && process.part == Part::other;
  });
  return found;
}

}  // namespace l4::host
