// Notices at once, by pidfd, that a process has exited, and how, if the kernel shows that.
//
// Flow: ProcessWatch adds the processes that it watches; `descriptor` is for an event loop,
// readable when a process has exited. The exit status is known for our own children (waitid, left
// for the caller to collect), for a zombie that its parent has not collected yet (/proc/PID/stat,
// same user or CAP_SYS_PTRACE), and from Linux 6.15 on through the pidfd itself. One thread.
// Bounds: `pidfds_max` descriptors; a process beyond that is not added, and its owner polls /proc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "agent/host/proc.h"

namespace l4::host {

/// The exit of a process, as far as the kernel shows it; `pidfd` may be -1.
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

  /// False if the process cannot be watched: it has exited, no descriptor is left, or the kernel is
  /// too old. `started` guards against a pid that was used again.
  bool add(const Proc& proc, Pid pid, SinceBoot started);
  void remove(Pid pid);
  /// The processes that have exited since the last call; never waits.
  std::vector<Left> poll(const Proc& proc);

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
