#include "aggregator/store/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace l4::store {
namespace {

std::unexpected<Error> failed(const Path& path, const char* what, int code = errno) {
  return std::unexpected(
      Error{path.string(), fmt::format("cannot {}: {}", what, std::strerror(code))});  // NOLINT
}

class SystemFile : public File {
 public:
  SystemFile(int handle, Path path) : handle_(handle), path_(std::move(path)) {}
  ~SystemFile() override { ::close(handle_); }
  SystemFile(const SystemFile&) = delete;
  SystemFile& operator=(const SystemFile&) = delete;

  Result<void> append(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t done = ::write(handle_, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return failed(path_, "write");
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return {};
  }

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    std::size_t all = 0;
    while (all < into.size()) {
      const ssize_t done =
          ::pread(handle_, into.data() + all, into.size() - all, static_cast<off_t>(offset + all));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return failed(path_, "read");
      if (done == 0) break;
      all += static_cast<std::size_t>(done);
    }
    return all;
  }

  Result<void> sync() override {
    if (::fdatasync(handle_) != 0) return failed(path_, "make durable");
    return {};
  }

  Result<void> truncate(std::uint64_t bytes) override {
    if (::ftruncate(handle_, static_cast<off_t>(bytes)) != 0) return failed(path_, "cut");
    return {};
  }

  Result<std::uint64_t> size() override {
    struct stat status{};
    if (::fstat(handle_, &status) != 0) return failed(path_, "ask for the size");
    return static_cast<std::uint64_t>(status.st_size);
  }

 private:
  int handle_;
  Path path_;
};

class SystemFiles : public Files {
 public:
  Result<std::unique_ptr<File>> create(const Path& path) override {
    return opened(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND, "create");
  }
  Result<std::unique_ptr<File>> open(const Path& path, bool writable) override {
    return opened(path, writable ? O_RDWR | O_APPEND : O_RDONLY, "open");
  }
  Result<void> rename(const Path& from, const Path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return failed(from, "rename");
    return {};
  }
  Result<void> remove(const Path& path) override {
    if (::unlink(path.c_str()) != 0) return failed(path, "remove");
    return {};
  }
  Result<void> make_folder(const Path& folder) override {
    if (::mkdir(folder.c_str(), 0700) == 0) return {};
    const int code = errno;
    struct stat status{};
    const bool there = code == EEXIST && ::stat(folder.c_str(), &status) == 0;
    if (there && S_ISDIR(status.st_mode)) return {};
    return failed(folder, "make the folder", code);
  }
  Result<void> sync_folder(const Path& folder) override {
    const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) return failed(folder, "open");
    const int done = ::fsync(handle);
    const int code = errno;
    ::close(handle);
    if (done != 0) return failed(folder, "make durable", code);
    return {};
  }
  Result<std::vector<std::string>> list(const Path& folder) override {
    std::error_code error;
    std::vector<std::string> names;
    std::filesystem::directory_iterator at(folder, error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
      std::error_code ignored;  // a file that is gone by now is left out
      if (at->is_regular_file(ignored)) names.push_back(at->path().filename().string());
    }
    if (error) return failed(folder, "list", error.value());
    std::ranges::sort(names);
    return names;
  }

 private:
  static Result<std::unique_ptr<File>> opened(const Path& path, int flags, const char* what) {
    const int handle = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (handle < 0) return failed(path, what);
    return std::make_unique<SystemFile>(handle, path);
  }
};

}  // namespace

Files& system_files() {
  static SystemFiles files;
  return files;
}

Result<Bytes> read_whole(Files& files, const Path& path, std::uint64_t bytes_max) {
  auto file = files.open(path, false);
  if (!file) return std::unexpected(file.error());
  const auto size = (*file)->size();
  if (!size) return std::unexpected(size.error());
  if (*size > bytes_max)
    return std::unexpected(
        Error{path.string(), fmt::format("{} bytes, at most {} are read", *size, bytes_max)});
  Bytes bytes(*size);
  const auto read = (*file)->read(0, bytes);
  if (!read) return std::unexpected(read.error());
  bytes.resize(*read);
  return bytes;
}

}  // namespace l4::store
