#include "tools/l4/terminal/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string_view>

namespace l4::terminal {
namespace {

/// Read-only: writes to a closed output must still fail.
void open_missing_streams() {
  for (int next = ::open("/dev/null", O_RDONLY); next >= 0; next = ::open("/dev/null", O_RDONLY))
    if (next > STDERR_FILENO) {
      ::close(next);
      return;
    }
}

/// Allocates nothing. The signal ends the program, or wakes the thread that removes temporary files
/// first.
void out_of_memory() {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) std::_Exit(128 + SIGTERM);  // there is no memory to clean up with
  constexpr std::string_view kMessage =
      "l4: out of memory; give it more, fewer --threads, or less input at once\n";
  if (::write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0) told = true;
  ::kill(::getpid(), SIGTERM);
  for (;;) ::pause();
}

}  // namespace

void prepare_process() {
  open_missing_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::set_new_handler(out_of_memory);
}

}  // namespace l4::terminal
