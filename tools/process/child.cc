#include "tools/process/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "common/base/descriptor.h"

namespace l4::process {
namespace {

constexpr Millis kLook{20};

std::unexpected<Error> refused(const std::filesystem::path& what, int reason) {
  return std::unexpected(Error{what.string(), std::generic_category().message(reason)});
}

/// In the child: becomes the program, or tells the reason through `report`. Calls only functions
/// that are safe between fork and exec.
[[noreturn]] void become(char* const* arguments, int output, int report, int signal, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, signal);
  if (::getppid() != parent) ::_exit(127);  // the parent was gone before that
  ::setsid();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
      ::dup2(output, STDERR_FILENO) >= 0)
    ::execv(arguments[0], arguments);
  const int reason = errno;
  static_cast<void>(::write(report, &reason, sizeof reason) < 0);
  ::_exit(127);
}

/// The reason why the child could not become the program; 0: it did.
int reason_in(int report) {
  int reason = 0;
  ssize_t size = 0;
  do {
    size = ::read(report, &reason, sizeof reason);
  } while (size < 0 && errno == EINTR);
  return size == sizeof reason ? reason : 0;
}

bool is_program(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

}  // namespace

Result<Child> Child::start(const Program& program) {
  const Descriptor output(
      ::open(program.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (output.number() < 0) return refused(program.output, errno);
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refused(program.file, errno);
  const Descriptor report(ends[0]);
  std::vector<std::string> words{program.file.string()};
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(arguments.data(), output.number(), ends[1], program.signal_with_us, parent);
  const int failed = errno;
  ::close(ends[1]);
  if (pid < 0) return refused(program.file, failed);
  const int reason = reason_in(report.number());
  Child child(pid);
  if (reason == 0) return child;
  child.kill();
  return refused(program.file, reason);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(status_, other.status_);
  return *this;
}

bool Child::has_ended(int how) {
  if (pid_ < 0) return true;
  pid_t got = 0;
  do {
    got = ::waitpid(pid_, &status_, how);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return false;
  pid_ = -1;
  return true;
}

std::optional<std::string> Child::ending() {
  if (!has_ended(WNOHANG)) return std::nullopt;
  if (WIFSIGNALED(status_))
    return fmt::format("by signal {} ({})", WTERMSIG(status_), ::strsignal(WTERMSIG(status_)));
  return fmt::format("with exit status {}", WEXITSTATUS(status_));
}

void Child::stop(Millis most) {
  if (pid_ >= 0) ::kill(pid_, SIGTERM);
  for (Millis waited{0}; waited < most && !has_ended(WNOHANG); waited += kLook)
    std::this_thread::sleep_for(kLook);
  kill();
}

void Child::kill() {
  if (has_ended(WNOHANG)) return;
  ::kill(pid_, SIGKILL);
  has_ended(0);
}

std::filesystem::path find_program(const std::string& name) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed && is_program(self.parent_path() / name)) return self.parent_path() / name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && is_program(std::filesystem::path(folder) / name))
      return std::filesystem::path(folder) / name;
  return {};
}

}  // namespace l4::process
