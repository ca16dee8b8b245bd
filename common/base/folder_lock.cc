#include "common/base/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "common/base/descriptor.h"

namespace l4 {
namespace {

using std::filesystem::path;

int open_file(const path& file, int how) {
  return ::open(file.c_str(), how | O_CLOEXEC | O_NOFOLLOW, 0600);
}

std::string holder_of(int handle) {
  std::array<char, 256> text{};
  const ssize_t size = ::pread(handle, text.data(), text.size(), 0);
  std::string holder(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  holder.erase(std::min(holder.find_first_of("\n\r"), holder.size()));
  return holder.empty() ? "another process" : holder;
}

/// Whether the process that a lock names has ended, or is ending: its files are closed some time
/// after it was killed.
bool is_ending(const std::string& holder) {
  unsigned long flags = 0;
  int pid = 0;
  char state = 0;
  if (std::sscanf(holder.c_str(), "pid %d,", &pid) != 1 || pid <= 0) return false;
  const std::string folder = fmt::format("/proc/{}/", pid);
  std::ifstream stat(folder + "stat"), status(folder + "status");
  std::string line;
  if (!std::getline(stat, line)) return true;
  constexpr unsigned long kExiting = 4;  // PF_EXITING
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos ||
      std::sscanf(line.c_str() + name_end + 1, " %c %*d %*d %*d %*d %*d %lu", &state, &flags) != 2)
    return false;
  if (state == 'Z' || state == 'X' || (flags & kExiting) != 0) return true;
  constexpr unsigned long long kKilled = 1ULL << (SIGKILL - 1);
  unsigned long long pending = 0;
  while (std::getline(status, line))
    if (std::sscanf(line.c_str(), "ShdPnd: %llx", &pending) == 1 && (pending & kKilled) != 0)
      return true;
  return false;
}

/// Tries again while the holder is ending. Sets errno where the lock is not had.
bool lock_soon(int handle) {
  constexpr std::chrono::milliseconds kLongest{1'000}, kPause{10};
  for (auto waited = kPause;; waited += kPause) {
    if (::flock(handle, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) return false;
    if (waited > kLongest || !is_ending(holder_of(handle))) break;
    std::this_thread::sleep_for(kPause);
  }
  errno = EWOULDBLOCK;
  return false;
}

/// The text is only for people, so a full disk does not fail the lock, which is held already.
void tell_holder(const path& file, const std::string& holder) {
  const Descriptor out(open_file(file, O_WRONLY | O_TRUNC));
  const std::string line = fmt::format("pid {}, {}\n", ::getpid(), holder);
  if (out.number() >= 0) static_cast<void>(::pwrite(out.number(), line.data(), line.size(), 0) < 0);
}

std::unexpected<FolderLock::Refusal> cannot(const path& file, const char* what, int reason) {
  return std::unexpected(FolderLock::Refusal{
      {file.string(), fmt::format("cannot {}: {}", what, std::strerror(reason))}, false});
}

}  // namespace

std::expected<FolderLock, FolderLock::Refusal> FolderLock::take(const path& folder,
                                                                const std::string& holder) {
  const path file = folder / "lock";
  FolderLock lock(open_file(file, O_RDONLY | O_CREAT));
  if (lock.handle_ < 0) return cannot(file, "open the lock", errno);
  bool held = lock_soon(lock.handle_);
  if (!held && errno == EBADF) {  // NFS locks only files that may be written
    ::close(lock.handle_);
    lock.handle_ = open_file(file, O_RDWR);
    if (lock.handle_ < 0) return cannot(file, "open the lock", errno);
    held = lock_soon(lock.handle_);
  }
  if (!held && errno != EWOULDBLOCK) return cannot(file, "lock", errno);
  if (!held)
    return std::unexpected(Refusal{
        {folder.string(), fmt::format("the state folder is in use by {}", holder_of(lock.handle_))},
        true});
  tell_holder(file, holder);
  return lock;
}

bool FolderLock::is_held(const path& folder) {
  const Descriptor lock(open_file(folder / "lock", O_RDONLY));
  return lock.number() >= 0 && ::flock(lock.number(), LOCK_SH | LOCK_NB) != 0 &&
         errno == EWOULDBLOCK;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}

FolderLock::~FolderLock() {
  if (handle_ >= 0) ::close(handle_);
}

}  // namespace l4
