#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "agent/tail/file_system.h"

namespace l4::tail {
namespace {

std::unexpected<int> failed() {
  return std::unexpected(errno);
}

Status status_of(const struct stat& found) {
  Status status;
  if (S_ISREG(found.st_mode)) status.kind = Status::Kind::file;
  if (S_ISDIR(found.st_mode)) status.kind = Status::Kind::folder;
  if (S_ISLNK(found.st_mode)) status.kind = Status::Kind::link;
  status.device = found.st_dev;
  status.inode = found.st_ino;
  status.bytes = found.st_size > 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
  status.links = found.st_nlink;
  status.modified =
      TimeMs{Millis{std::int64_t{found.st_mtim.tv_sec} * 1000 + found.st_mtim.tv_nsec / 1'000'000}};
  status.user = found.st_uid;
  return status;
}

class RealFile final : public File {
 public:
  explicit RealFile(int descriptor) : descriptor_(descriptor) {}
  ~RealFile() override { ::close(descriptor_); }
  RealFile(const RealFile&) = delete;
  RealFile& operator=(const RealFile&) = delete;

  Outcome<Status> status() override {
    struct stat found{};
    if (::fstat(descriptor_, &found) != 0) return failed();
    return status_of(found);
  }

  Outcome<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const ssize_t n = ::pread(descriptor_, buffer.data() + filled, buffer.size() - filled,
                                static_cast<off_t>(offset + filled));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && filled == 0) return failed();
      if (n <= 0) break;
      filled += static_cast<std::size_t>(n);
    }
    return filled;
  }

 private:
  int descriptor_;
};

class RealFileSystem final : public FileSystem {
 public:
  Outcome<std::vector<std::string>> list(const std::string& folder) override {
    DIR* directory = ::opendir(folder.c_str());
    if (directory == nullptr) return failed();
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* item = ::readdir(directory)) {
      const std::string_view name = item->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    const int error = errno;
    ::closedir(directory);
    if (error != 0) return std::unexpected(error);
    return names;
  }

  Outcome<Status> status(const std::string& path, bool follow) override {
    struct stat found{};
    if (::fstatat(AT_FDCWD, path.c_str(), &found, follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0)
      return failed();
    return status_of(found);
  }

  Outcome<std::string> real_path(const std::string& path) override {
    char* real = ::realpath(path.c_str(), nullptr);
    if (real == nullptr) return failed();
    std::string result = real;
    ::free(real);
    return result;
  }

  Outcome<std::unique_ptr<File>> open(const std::string& path) override {
    // O_NONBLOCK: a FIFO without a writer must not block; it changes nothing for regular files.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) return failed();
    auto file = std::make_unique<RealFile>(descriptor);
    const auto status = file->status();
    if (!status) return std::unexpected(status.error());
    if (status->kind != Status::Kind::file) return std::unexpected(EINVAL);
    return file;
  }

  bool blind(const std::string& folder) override {
    struct statfs found{};
    if (::statfs(folder.c_str(), &found) != 0) return true;
    // ext, xfs, btrfs, tmpfs, ramfs, f2fs, zfs, bcachefs; other file systems may be written from
    // elsewhere.
    constexpr std::array<std::uint32_t, 8> kSeeing{0xef53,     0x58465342, 0x9123683e, 0x01021994,
                                                   0x858458f6, 0xf2f52010, 0x2fc12fc1, 0xca451a4e};
    return std::ranges::find(kSeeing, static_cast<std::uint32_t>(found.f_type)) == kSeeing.end();
  }
};

}  // namespace

FileSystem& real_file_system() {
  static RealFileSystem instance;
  return instance;
}

std::size_t descriptors_allowed() {
  constexpr std::size_t kMost = 4096, kUnknown = 128;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kUnknown;
  return std::min<std::size_t>(kMost, limit.rlim_cur / 2);
}

}  // namespace l4::tail
