// A program that this one starts and ends: by its own id, with what it writes in a file.
//
// Used by `l4 demo` and l4-fleet. The child ends with the thread that started it, even if that is
// killed, so the thread must live as long as the child should; it gets no signals of the terminal.
// One owner, which ends it at the latest in the destructor.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::process {

struct Program {
  std::filesystem::path file;
  std::vector<std::string> arguments;
  std::filesystem::path output;  ///< standard output and error are appended to it
  int signal_with_us = SIGKILL;  ///< what it gets if this program is gone
};

class Child {
 public:
  /// Error: the program cannot be started, or its output cannot be opened.
  static Result<Child> start(const Program& program);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child() { kill(); }

  /// -1 once it has ended.
  pid_t pid() const { return pid_; }
  /// How it ended, for people: "with exit status 2", "by signal 9 (Killed)"; empty while it runs.
  std::optional<std::string> ending();
  /// SIGTERM; then SIGKILL if it still runs after `most`. Returns when it is gone.
  void stop(Millis most);
  /// SIGKILL. Returns when it is gone.
  void kill();

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  /// Whether it has ended; `how` as for waitpid.
  bool has_ended(int how);

  pid_t pid_ = -1;
  int status_ = 0;  ///< as waitpid gives it
};

/// The program of this name beside the running one, else in PATH; empty if there is none.
std::filesystem::path find_program(const std::string& name);

}  // namespace l4::process
