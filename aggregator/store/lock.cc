#include "aggregator/store/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace l4::store {
namespace {

std::string holder_of(int handle) {
  std::array<char, 256> text{};
  const ssize_t size = ::pread(handle, text.data(), text.size(), 0);
  std::string holder(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  holder.erase(std::min(holder.find_first_of("\n\r"), holder.size()));
  return holder.empty() ? "another process" : holder;
}

}  // namespace

Result<FolderLock> FolderLock::take(const Path& folder, const std::string& holder) {
  const Path path = folder / "lock";
  int handle = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (handle < 0 && errno == EROFS)  // what it holds can still be read
    handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (handle < 0)
    return std::unexpected(
        Error{path.string(), fmt::format("cannot open the lock: {}", std::strerror(errno))});
  FolderLock lock(handle);
  if (::flock(handle, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return std::unexpected(
          Error{path.string(), fmt::format("cannot lock: {}", std::strerror(errno))});
    return std::unexpected(
        Error{folder.string(), fmt::format("the state folder is in use by {}", holder_of(handle))});
  }
  // Only for people: a full disk is no reason to refuse the lock, which is held already.
  const std::string line = fmt::format("pid {}, {}\n", ::getpid(), holder);
  if (::ftruncate(handle, 0) == 0)
    static_cast<void>(::pwrite(handle, line.data(), line.size(), 0) < 0);
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}

FolderLock::~FolderLock() {
  if (handle_ >= 0) ::close(handle_);
}

}  // namespace l4::store
