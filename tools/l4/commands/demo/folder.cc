#include "tools/l4/commands/demo/folder.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace l4::commands::demo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "l4-demo-", kUnfinished = ".l4-demo-";
constexpr std::string_view kPattern = "XXXXXX";
constexpr std::time_t kUnfinishedSeconds = 60;

std::unexpected<Error> cannot_make(const fs::path& base, int reason) {
  return std::unexpected(
      Error{base.string(), fmt::format("cannot make a folder: {}; TMPDIR names another place",
                                       std::generic_category().message(reason))});
}

/// A process that is ending may still write into the folder.
std::error_code remove_whole(const fs::path& folder) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kBetweenTries{50};
  std::error_code failed;
  for (int tries = 0; tries < kTries; ++tries) {
    fs::remove_all(folder, failed);
    if (!failed) break;
    std::this_thread::sleep_for(kBetweenTries);
  }
  return failed;
}

bool has_form(const std::string& name, std::string_view prefix) {
  return name.starts_with(prefix) && name.size() == prefix.size() + kPattern.size();
}

/// Whether the folder is this user's alone, and no link.
bool is_ours(const fs::path& folder, struct stat& found) {
  return ::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == ::geteuid();
}

/// A demo that was killed before its folder had a lock.
bool is_unfinished(const std::string& name, const struct stat& found) {
  return has_form(name, kUnfinished) && found.st_mtime + kUnfinishedSeconds < ::time(nullptr);
}

}  // namespace

Result<fs::path> base_of_folders() {
  std::error_code failed;
  fs::path base = fs::temp_directory_path(failed);
  if (failed)
    return std::unexpected(Error{"TMPDIR", "no folder for temporary files: " + failed.message()});
  base = fs::absolute(base, failed);
  if (!base.has_filename()) base = base.parent_path();
  return base;
}

Result<std::unique_ptr<Folder>> Folder::make(const fs::path& base) {
  constexpr int kTries = 10;
  for (int tries = 0; tries < kTries; ++tries) {
    std::string made = (base / fmt::format("{}{}", kUnfinished, kPattern)).string();
    if (::mkdtemp(made.data()) == nullptr) return cannot_make(base, errno);
    auto lock = FolderLock::take(made, "l4 demo");
    if (!lock) {
      std::error_code ignored;
      fs::remove_all(made, ignored);
      return std::unexpected(lock.error().error);
    }
    const fs::path named = base / fs::path(made).filename().string().substr(1);
    if (::rename(made.c_str(), named.c_str()) == 0)
      return std::unique_ptr<Folder>(new Folder(named, std::move(*lock)));
    const int reason = errno;  // the name is taken
    std::error_code ignored;
    fs::remove_all(made, ignored);
    if (reason != ENOTEMPTY && reason != EEXIST && reason != ENOTDIR)
      return cannot_make(base, reason);
  }
  return cannot_make(base, EEXIST);
}

Folder::Folder(fs::path path, FolderLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

Folder::~Folder() {
  static_cast<void>(remove());
}

Result<void> Folder::remove() {
  if (path_.empty()) return {};
  if (const auto failed = remove_whole(path_))
    return std::unexpected(Error{path_.string(), "could not be removed: " + failed.message()});
  path_.clear();
  return {};
}

std::vector<fs::path> remove_abandoned(const fs::path& base) {
  std::vector<fs::path> removed;
  std::error_code failed;
  for (fs::directory_iterator at(base, failed), end; !failed && at != end; at.increment(failed)) {
    const fs::path folder = at->path();
    const std::string name = folder.filename().string();
    struct stat found{};
    if (!(has_form(name, kPrefix) || has_form(name, kUnfinished)) || !is_ours(folder, found))
      continue;
    if (has_form(name, kUnfinished) && !is_unfinished(name, found)) continue;
    const auto lock = FolderLock::take(folder, "l4 demo");
    if (lock && !remove_whole(folder)) removed.push_back(folder);
  }
  std::ranges::sort(removed);
  return removed;
}

}  // namespace l4::commands::demo
