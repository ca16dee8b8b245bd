// Numbers the starts of a job on a node: each restart is a new attempt, by launcher or scheduler.
//
// Flow: ProcessWatch asks for each new rank process. Each node numbers for itself: torchrun counts
// only the failures of its own node, although all nodes restart. A new attempt begins when the
// count of launcher or scheduler goes up. Without such a count it begins with a new process for a
// rank whose former process has ended, or with any process that starts 10 s after the others if all
// of those have ended, as ranks may move between nodes. If only torchrun's folders attempt_N exist,
// the numbers agree with them. For a job that is new, requeues and restarts are added, so that a
// node which joins after a requeue counts like the nodes that saw the job begin. Bounds: 256 jobs
// on nodes, 64 attempts each, the oldest forgotten. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "agent/host/facts.h"

namespace l4::host {

/// Name of a job in the table. It holds the node, as a launcher counts only the restarts of its own
/// node.
inline std::string on_node(const std::string& job, const std::string& node) {
  return job + '\0' + node;
}

class AttemptTable {
 public:
  struct Process {
    Pid pid;
    SinceBoot started{0};
    Rank rank;
    AttemptKey key;
    std::int32_t path_attempt = 0;
  };

  using Alive = std::function<bool(Pid, SinceBoot)>;

  /// Attempt number of a new process. `alive` tells whether a former process still runs: if it does
  /// and has the same rank, the new process is not a restart; see `doubles`.
  std::int32_t assign(const std::string& job, const Process& process, const Alive& alive);

  /// Restores a process whose attempt is known: `path_attempt` holds what assign() returned for it.
  void restore(const std::string& job, const Process& process);

  /// The process turned out to be no rank.
  void withdraw(const std::string& job, Rank rank, Pid pid, SinceBoot started);
  /// Attempt that runs or ran last; 0 if the job is not known.
  std::int32_t current(const std::string& job) const;
  /// Ranks that two living processes claimed.
  std::uint64_t doubles() const { return doubles_; }

 private:
  struct Holder {
    Pid pid;
    SinceBoot started{0};
  };
  struct Attempt {
    AttemptKey key;
    std::int32_t number = 0;
    std::map<Rank, Holder> ranks;
  };
  struct Job {
    std::deque<Attempt> attempts;  // oldest first
    std::uint64_t used = 0;
  };

  bool restarted(const Attempt& attempt, const Process& process, const Alive& alive);
  Job& job_of(const std::string& job);

  std::map<std::string, Job> jobs_;
  std::uint64_t uses_ = 0, doubles_ = 0;
};

}  // namespace l4::host
