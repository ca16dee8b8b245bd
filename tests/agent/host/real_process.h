// Real processes for tests: started, stopped, told to go on and ended, each time waited for.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace l4::host::test {

/// Arguments of a process; a descriptor of -1 is /dev/null.
struct Start {
  std::vector<std::string> words;
  std::vector<std::string> environment = {};
  int in = -1, out = -1;
};

/// Starts a program; on return the child has called exec. The caller ends it.
inline pid_t spawn(const Start& start) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (start.in < 0)
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  else
    ::posix_spawn_file_actions_adddup2(&actions, start.in, 0);
  for (const int fd : {1, 2}) {
    if (start.out < 0)
      ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
    else
      ::posix_spawn_file_actions_adddup2(&actions, start.out, fd);
  }
  std::vector<std::string> words = start.words, environment = start.environment;
  std::vector<char*> argv, envp;
  for (auto& word : words) argv.push_back(word.data());
  for (auto& entry : environment) envp.push_back(entry.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  pid_t pid = -1;
  if (::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), envp.data()) != 0) pid = -1;
  ::posix_spawn_file_actions_destroy(&actions);
  // posix_spawnp returns once the child has left the old program; the new one runs once /proc shows
  // its environment.
  char first = 0;
  for (bool there = start.environment.empty() || pid < 0; !there; std::this_thread::yield()) {
    const int fd =
        ::open(("/proc/" + std::to_string(pid) + "/environ").c_str(), O_RDONLY | O_CLOEXEC);
    there = fd < 0 || ::read(fd, &first, 1) == 1;
    if (fd >= 0) ::close(fd);
  }
  return pid;
}

/// A child that is killed and collected at the end. Signals go by its pidfd, so that they can never
/// reach a later process with the same pid.
class Child {
 public:
  explicit Child(const Start& start) : pid_(spawn(start)) {
    if (pid_ > 0) pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  }
  ~Child() {
    end();
    if (pidfd_ >= 0) ::close(pidfd_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const {
    if (pidfd_ >= 0) ::syscall(SYS_pidfd_send_signal, pidfd_, number, nullptr, 0);
  }
  void stop() const { signal_and_wait(SIGSTOP, WSTOPPED); }
  void go_on() const { signal_and_wait(SIGCONT, WCONTINUED); }
  void end() {
    signal(SIGKILL);
    signal_and_wait(0, WEXITED);
  }
  /// The exit of the child, if it has ended and no other process has collected it.
  std::optional<siginfo_t> collect() const {
    siginfo_t ended{};
    const bool asked = ::waitid(P_PIDFD, static_cast<id_t>(pidfd_), &ended, WEXITED | WNOHANG) == 0;
    return asked && ended.si_pid == pid_ ? std::optional(ended) : std::nullopt;
  }

 private:
  void signal_and_wait(int number, int options) const {
    if (pidfd_ < 0) return;
    signal(number);
    siginfo_t happened{};
    ::waitid(P_PIDFD, static_cast<id_t>(pidfd_), &happened, options);
  }
  pid_t pid_;
  int pidfd_ = -1;
};

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) == 0) read = ends[0], write = ends[1];
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_read() {
    if (read >= 0) ::close(std::exchange(read, -1));
  }
  void close_write() {
    if (write >= 0) ::close(std::exchange(write, -1));
  }
  int read = -1, write = -1;
};

/// Waits until a descriptor is readable; false after a minute.
inline bool readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 60'000) == 1;
}

}  // namespace l4::host::test
