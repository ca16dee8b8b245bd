// Learns at once that a process has left, by pidfd, and how it ended where the kernel tells.
//
// Flow: ProcessWatch adds what it watches; `descriptor` is one for an event loop, readable when
// somebody has left. How it ended is known of our own children (waitid, left for the caller to
// collect), of a zombie that its parent has not collected yet (/proc/PID/stat, same user or
// CAP_SYS_PTRACE), and from Linux 6.15 on by the pidfd itself. One thread. Bounds: `pidfds_max`
// descriptors; a process beyond that is not added, and its owner looks at /proc now and then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "agent/host/proc.h"

namespace l4::host {

/// How a process ended that is about to be forgotten; `pidfd` may be -1.
Exit exit_of(const Proc& proc, Pid pid, SinceBoot started, int pidfd);

class ExitWatch {
 public:
  explicit ExitWatch(std::size_t pidfds_max) : pidfds_max_(pidfds_max) {}
  ~ExitWatch();
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;

  struct Left {
    Pid pid;
    Exit exit;
  };

  /// False if it cannot be watched so: gone already, no descriptor left, an old kernel. `started`
  /// guards against a number that was given again.
  bool add(const Proc& proc, Pid pid, SinceBoot started);
  void remove(Pid pid);
  /// Those that have left since; never waits.
  std::vector<Left> take(const Proc& proc);

  int descriptor() const { return epoll_; }  ///< -1 before the first process
  std::size_t size() const { return watched_.size(); }
  std::uint64_t refused() const { return refused_; }

 private:
  struct Watched {
    int pidfd = -1;
    SinceBoot started{0};
  };
  std::size_t pidfds_max_;
  int epoll_ = -1;
  std::map<Pid, Watched> watched_;
  std::uint64_t refused_ = 0;
};

}  // namespace l4::host
