#include "aggregator/alert/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "common/base/descriptor.h"

namespace l4::alert {
namespace {

/// The text as a file in memory, so that a command that never reads it cannot block a thread.
int file_of(std::string_view text) {
  const int file = ::memfd_create("alert", MFD_CLOEXEC);
  while (file >= 0 && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file >= 0) ::lseek(file, 0, SEEK_SET);
  return file;
}

/// Starts the command; returns 0 or an errno.
int spawn(const std::vector<std::string>& command, int input, pid_t& child) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::string path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  std::array<char*, 2> environment{path.data(), nullptr};
  sigset_t none, reset;
  sigemptyset(&none);
  sigemptyset(&reset);
  sigaddset(&reset, SIGPIPE);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &reset);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  const int failed = ::posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(),
                                   environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

/// Waits until the child has ended; false if it must be killed.
bool ends(pid_t child, Millis timeout, const std::stop_token& stop) {
  constexpr Millis kPollEvery{50};
  const Descriptor ended(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!stop.stop_requested()) {
    siginfo_t seen{};
    if (::waitid(P_PID, static_cast<id_t>(child), &seen, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        seen.si_pid == child)
      return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    pollfd polled{ended.number(), POLLIN, 0};
    ::poll(&polled, 1, static_cast<int>(kPollEvery.count()));
  }
  return false;
}

}  // namespace

Result<void> run_command(const std::vector<std::string>& command, std::string_view input,
                         Millis timeout, const std::stop_token& stop) {
  const auto failed = [&](std::string reason) -> Result<void> {
    return std::unexpected(Error{command.empty() ? "" : command.front(), std::move(reason)});
  };
  if (command.empty()) return failed("no command");
  const Descriptor file(file_of(input));
  if (file.number() < 0) return failed(std::strerror(errno));
  pid_t child = 0;
  if (const int wrong = spawn(command, file.number(), child)) return failed(std::strerror(wrong));
  const bool ended = ends(child, timeout, stop);
  ::kill(-child, SIGKILL);  // kills also the processes that it left in its group
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended)
    return failed(stop.stop_requested() ? "killed because the aggregator stops"
                                        : fmt::format("killed after {}", to_human(timeout)));
  if (WIFSIGNALED(status)) return failed(fmt::format("ended by signal {}", WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return failed(fmt::format("ended with status {}", WEXITSTATUS(status)));
  return {};
}

}  // namespace l4::alert
