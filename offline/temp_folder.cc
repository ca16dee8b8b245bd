#include "offline/temp_folder.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "common/base/thread.h"

namespace l4::offline {
namespace {

/// Signals that end a program, without those that are ignored (nohup ignores SIGHUP).
sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&set, number);
  }
  return set;
}

}  // namespace

Result<std::unique_ptr<TempFolder>> TempFolder::make() {
  std::error_code failed;
  const std::filesystem::path base = std::filesystem::temp_directory_path(failed);
  if (failed)
    return std::unexpected(Error{"TMPDIR", "no folder for temporary files: " + failed.message()});
  std::string pattern = (base / "l4-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    return std::unexpected(
        Error{base.string(), std::string("cannot make a temporary folder: ") + strerror(errno)});
  std::unique_ptr<TempFolder> folder(new TempFolder(pattern));
  try {
    folder->watcher_ =
        start_thread("l4-signals", [watched = folder.get()] { watched->watch_signals(); });
  } catch (const std::system_error& error) {  // a limit of processes or of memory
    return std::unexpected(Error{"", std::string("cannot start a thread: ") + error.what()});
  }
  return folder;
}

TempFolder::TempFolder(std::filesystem::path path) : path_(std::move(path)) {
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
}

void TempFolder::watch_signals() {
  std::array<pollfd, 2> waited{pollfd{signals_, POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
  while (::poll(waited.data(), waited.size(), -1) < 0 && errno == EINTR) continue;
  if ((waited[0].revents & POLLIN) == 0) return;
  signalfd_siginfo got{};
  if (::read(signals_, &got, sizeof got) != sizeof got) return;
  // Others may still be writing into the folder: try again until nothing is left.
  std::error_code failed;
  for (int tries = 0; tries < 10; ++tries) {
    std::filesystem::remove_all(path_, failed);
    if (!failed) break;
  }
  const int number = static_cast<int>(got.ssi_signo);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  std::signal(number, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(number);
}

TempFolder::~TempFolder() {
  const std::uint64_t one = 1;
  if (watcher_.joinable() && ::write(stop_, &one, sizeof one) == sizeof one) watcher_.join();
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  ::close(signals_);
  ::close(stop_);
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace l4::offline
