#include "common/base/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
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
  bool held = ::flock(lock.handle_, LOCK_EX | LOCK_NB) == 0;
  if (!held && errno == EBADF) {  // NFS locks only files that may be written
    ::close(lock.handle_);
    lock.handle_ = open_file(file, O_RDWR);
    if (lock.handle_ < 0) return cannot(file, "open the lock", errno);
    held = ::flock(lock.handle_, LOCK_EX | LOCK_NB) == 0;
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
