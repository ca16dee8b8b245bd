#include "offline/inputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <utility>

#include "agent/discover/file_kind.h"
#include "offline/unpack.h"

namespace l4::offline {
namespace {

namespace fs = std::filesystem;

const fs::path kStandardInput = "-";

/// A log may be called like an archive (`train.tar.gz` that holds text): then it is read as a log.
bool is_archive(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored) || !named_like_archive(path)) return false;
  if (begins_like_archive(path)) return true;
  const auto content = discover::content_of(path);
  return !content || *content != discover::Content::text || fs::file_size(path, ignored) == 0;
}

/// logs.tar.gz -> logs.
std::string stem_of(const fs::path& archive) {
  fs::path stem = archive.stem();
  if (stem.extension() == ".tar") stem = stem.stem();
  return stem.string();
}

/// Copies standard input until it ends; Error if it is longer than `bytes_max` or cannot be kept.
Result<void> copy_standard_input(int to, std::uint64_t bytes_max, Progress& progress) {
  std::array<char, 256 * 1024> block;
  std::uint64_t bytes = 0;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
    if (got == 0) return {};
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return std::unexpected(
          Error{"standard input", std::string("cannot be read: ") + std::strerror(errno)});
    bytes += static_cast<std::uint64_t>(got);
    progress.bytes_done.fetch_add(static_cast<std::uint64_t>(got), std::memory_order_relaxed);
    if (bytes > bytes_max)
      return std::unexpected(
          Error{"standard input", fmt::format("is longer than {:.1f} GB, the most that {} allow",
                                              static_cast<double>(bytes_max) / 1e9, kLimits)});
    for (ssize_t done = 0; done < got;) {
      const ssize_t n = ::write(to, block.data() + done, static_cast<std::size_t>(got - done));
      if (n < 0 && errno != EINTR)
        return std::unexpected(
            Error{"standard input", std::string("cannot be kept: ") + std::strerror(errno)});
      done += std::max<ssize_t>(n, 0);
    }
  }
}

/// The time of the file behind standard input; 0, which means none, if it is a pipe.
timespec time_of_standard_input() {
  struct stat status{};
  if (::fstat(STDIN_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return status.st_mtim;
}

}  // namespace

Result<Inputs> Inputs::make(const std::vector<fs::path>& all, std::uint64_t bytes_max) {
  Inputs inputs;
  const bool needed = std::ranges::any_of(
      all, [](const fs::path& path) { return path == kStandardInput || is_archive(path); });
  if (!needed) return inputs;
  auto folder = TempFolder::make();
  if (!folder) return std::unexpected(folder.error());
  inputs.folder_ = std::move(*folder);
  inputs.bytes_max_ = bytes_max;
  return inputs;
}

std::uint64_t Inputs::room() const {
  // At most nine tenths of the free space, because others need the disk, too.
  std::error_code failed;
  const fs::space_info space = fs::space(folder_->path(), failed);
  return failed ? bytes_max_ : std::min(bytes_max_, space.available / 10 * 9);
}

fs::path Inputs::private_folder() const {
  return folder_ ? folder_->path() : fs::path();
}

Result<std::vector<fs::path>> Inputs::resolve(const std::vector<fs::path>& given,
                                              std::vector<wire::Warning>& warnings,
                                              Progress& progress) {
  std::vector<fs::path> paths;
  std::optional<Error> first;
  for (const fs::path& path : given) {
    auto readable = one(path, warnings, progress);
    if (readable) {
      paths.push_back(std::move(*readable));
      continue;
    }
    if (!first) first = readable.error();
    warnings.push_back({"unreadable", readable.error().where, readable.error().reason, 0});
  }
  progress.bytes_done = 0;
  progress.bytes_all = 0;
  if (paths.empty() && first) return std::unexpected(*first);
  return paths;
}

Result<fs::path> Inputs::one(const fs::path& given, std::vector<wire::Warning>& warnings,
                             Progress& progress) {
  if (given == kStandardInput) return spool(warnings, progress);
  if (!is_archive(given)) return given;
  std::error_code ignored;
  progress.bytes_all += fs::file_size(given, ignored);
  return open_up(given, given.filename().string(), stem_of(given), warnings, progress);
}

Result<fs::path> Inputs::spool(std::vector<wire::Warning>& warnings, Progress& progress) {
  fs::path file = folder_->path() / "stdin";
  const int to = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (to < 0 && errno == EEXIST) return std::unexpected(Error{"-", "is given twice"});
  if (to < 0) return std::unexpected(Error{file.string(), std::strerror(errno)});
  if (::isatty(STDIN_FILENO) != 0) std::cerr << "l4: reading standard input\n";
  const auto copied = copy_standard_input(to, room(), progress);
  const timespec when = time_of_standard_input();
  const std::array<timespec, 2> times{when, when};
  ::futimens(to, times.data());
  ::close(to);
  if (!copied) return std::unexpected(copied.error());
  if (!begins_like_archive(file)) return file;
  const fs::path packed = folder_->path() / ".stdin";
  std::error_code failed;
  fs::rename(file, packed, failed);
  if (failed) return std::unexpected(Error{file.string(), failed.message()});
  auto folder = open_up(packed, "stdin", "stdin", warnings, progress);
  fs::remove(packed, failed);
  return folder;
}

Result<fs::path> Inputs::open_up(const fs::path& archive, const std::string& name,
                                 const std::string& stem, std::vector<wire::Warning>& warnings,
                                 Progress& progress) {
  fs::path folder = folder_->path() / stem;
  for (int copy = 2; fs::exists(folder); ++copy)
    folder = folder_->path() / fmt::format("{}-{}", stem, copy);
  UnpackLimits limits;
  limits.bytes_max = room();
  const auto done = unpack(archive, name, folder, limits, warnings, progress.bytes_done);
  if (!done) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    return std::unexpected(done.error());
  }
  return folder;
}

}  // namespace l4::offline
