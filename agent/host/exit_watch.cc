#include "agent/host/exit_watch.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

namespace l4::host {
namespace {

int open_pidfd(Pid pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid.value(), 0));
}

Exit exit_of_status(int status, Exit::Seen by) {
  if (WIFSIGNALED(status)) return {Exit::Kind::signal, WTERMSIG(status), by};
  return {Exit::Kind::code, WEXITSTATUS(status), by};
}

std::optional<Exit> of_child(int pidfd) {
  siginfo_t info{};
  if (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return std::nullopt;
  if (info.si_pid == 0) return std::nullopt;
  const bool code = info.si_code == CLD_EXITED;
  return Exit{code ? Exit::Kind::code : Exit::Kind::signal, info.si_status, Exit::Seen::child};
}

/// PIDFD_GET_INFO of Linux 6.13, its exit code since 6.15; older headers have neither.
struct PidfdInfo {
  std::uint64_t mask = 0, cgroup = 0;
  std::array<std::uint32_t, 3> pids{};
  std::array<std::uint32_t, 8> credentials{};
  std::int32_t exit_code = 0;
};
static_assert(sizeof(PidfdInfo) == 64);

std::optional<Exit> of_pidfd(int pidfd) {
  constexpr std::uint64_t kExit = 1U << 3U;
  PidfdInfo info;
  info.mask = kExit;
  if (::ioctl(pidfd, _IOWR(0xFF, 11, PidfdInfo), &info) != 0) return std::nullopt;
  if ((info.mask & kExit) == 0) return std::nullopt;
  return exit_of_status(info.exit_code, Exit::Seen::pidfd);
}

/// Whether we may see all of /proc/PID/stat.
bool is_ours(const Proc& proc, Pid pid) {
  struct stat status{};
  return ::geteuid() == 0 ||
         (::stat(proc.file(pid, "stat").c_str(), &status) == 0 && status.st_uid == ::geteuid());
}

}  // namespace

Exit exit_of(const Proc& proc, Pid pid, SinceBoot started, int pidfd) {
  if (pidfd >= 0) {
    if (const auto exit = of_child(pidfd)) return *exit;
    if (const auto exit = of_pidfd(pidfd)) return *exit;
  }
  const auto stat = proc.stat(pid);
  if (!stat || !stat->zombie || stat->started != started) return {};
  // Without permission the status reads 0, as after success; so 0 counts only if we may see all.
  if (stat->wait_status == 0 && !is_ours(proc, pid)) return {};
  return exit_of_status(stat->wait_status, Exit::Seen::zombie);
}

ExitWatch::~ExitWatch() {
  for (const auto& [pid, watched] : watched_) ::close(watched.pidfd);
  if (epoll_ >= 0) ::close(epoll_);
}

bool ExitWatch::add(const Proc& proc, Pid pid, SinceBoot started) {
  if (!proc.real() || watched_.contains(pid)) return watched_.contains(pid);
  if (watched_.size() >= pidfds_max_) {
    ++refused_;
    return false;
  }
  if (epoll_ < 0) epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  const int pidfd = epoll_ < 0 ? -1 : open_pidfd(pid);
  if (pidfd < 0) {
    ++refused_;
    return false;
  }
  const auto stat = proc.stat(pid);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = static_cast<std::uint64_t>(pid.value());
  if (!stat || stat->started != started || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, pidfd, &event) != 0) {
    ::close(pidfd);
    ++refused_;
    return false;
  }
  watched_[pid] = {pidfd, started};
  return true;
}

void ExitWatch::remove(Pid pid) {
  const auto found = watched_.find(pid);
  if (found == watched_.end()) return;
  ::close(found->second.pidfd);  // this also removes the descriptor from the epoll set
  watched_.erase(found);
}

std::vector<ExitWatch::Left> ExitWatch::poll(const Proc& proc) {
  std::vector<Left> left;
  std::array<epoll_event, 64> events{};
  while (epoll_ >= 0) {
    const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
    if (count <= 0) break;
    for (int i = 0; i < count; ++i) {
      const Pid pid{static_cast<std::int32_t>(events[static_cast<std::size_t>(i)].data.u64)};
      const auto found = watched_.find(pid);
      if (found == watched_.end()) continue;
      left.push_back({pid, exit_of(proc, pid, found->second.started, found->second.pidfd)});
      remove(pid);
    }
  }
  return left;
}

}  // namespace l4::host
