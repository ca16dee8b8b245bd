// Numbers the starts of a job on a node: a restart is a new attempt, whoever restarted it.
//
// Flow: ProcessWatch asks for each rank process that it meets for the first time. Each node numbers
// for itself: torchrun counts only the failures of its own node, yet all nodes start again. A
// launcher's or scheduler's count that went up is a new attempt; so is, where none did, a new
// process for a rank whose former process is gone, or any 10 s after the others if all of them are
// gone: ranks may move between nodes. Numbers agree with attempt_N of torchrun's folders where that
// is all there is. Bounds: 256 jobs on nodes, 64 attempts each are told apart, the oldest
// forgotten; one thread. Of a job met for the first time requeues and restarts are added up, so
// that a node that takes part from a requeue on counts as those do that saw the job begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "agent/host/facts.h"

namespace l4::host {

/// The name that the table knows a job by: a launcher counts the restarts of its own node, and one
/// restart may be counted here and not there.
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

  /// Number of the attempt of a process that is met for the first time. `alive` tells whether one
  /// met before still runs: if it does and has the same rank, that is no restart; see `doubles`.
  std::int32_t assign(const std::string& job, const Process& process, const Alive& alive);

  /// A process whose attempt is known to be `path_attempt`: what assign() gave for it once.
  void restore(const std::string& job, const Process& process);

  /// It was no rank after all.
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
