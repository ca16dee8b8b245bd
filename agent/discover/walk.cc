#include "agent/discover/walk.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "agent/discover/path_facts.h"

namespace l4::discover {
namespace {

namespace fs = std::filesystem;

bool container_name(std::string_view name) {
  return name.ends_with(".log") && name.size() > 69 && name[name.size() - 69] == '-';
}

class Walker {
 public:
  Walker(const fs::path& root, std::size_t files_max, std::vector<wire::Warning>& warnings)
      : root_(fs::weakly_canonical(root, ignored_)), files_max_(files_max), warnings_(warnings) {}

  void folder(const fs::path& path, const std::string& relative);
  std::vector<Found> finish() { return std::move(found_); }

 private:
  void entry(const fs::path& path, const std::string& relative, const std::string& name);
  void warn(std::string kind, const std::string& file, std::string reason) {
    warnings_.push_back({std::move(kind), file, std::move(reason), 0});
  }
  bool inside(const fs::path& path) const {
    std::error_code error;
    const fs::path target = fs::canonical(path, error);
    if (error) return false;
    return std::mismatch(root_.begin(), root_.end(), target.begin(), target.end()).first ==
           root_.end();
  }

  std::error_code ignored_;
  fs::path root_;
  std::size_t files_max_;
  std::vector<wire::Warning>& warnings_;
  std::vector<Found> found_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> folders_;
};

void Walker::folder(const fs::path& path, const std::string& relative) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    warn("vanished", relative, std::strerror(errno));
    return;
  }
  if (!folders_.emplace(status.st_dev, status.st_ino).second) {
    warn("symlink_loop", relative, "folder was already visited");
    return;
  }
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) {
    warn("unreadable", relative, std::strerror(errno));
    return;
  }
  std::vector<std::string> names;
  while (const dirent* item = ::readdir(directory))
    if (item->d_name[0] != '.') names.emplace_back(item->d_name);
  ::closedir(directory);
  std::sort(names.begin(), names.end());
  for (const auto& name : names) {
    if (found_.size() >= files_max_) {
      warn("too_many_files", relative, "files beyond the limit were left out");
      return;
    }
    std::string inside = relative;
    if (!inside.empty()) inside += '/';
    entry(path / name, inside.append(name), name);
  }
}

void Walker::entry(const fs::path& path, const std::string& relative, const std::string& name) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    warn("vanished", relative, std::strerror(errno));
    return;
  }
  const bool link = S_ISLNK(status.st_mode);
  if (link) {
    if (::stat(path.c_str(), &status) != 0) {
      const bool loop = errno == ELOOP;
      warn(loop ? "symlink_loop" : "vanished", relative, std::strerror(errno));
      return;
    }
    if (!inside(path) && !container_name(name)) {
      warn("symlink_outside", relative, "links to a place outside of the folder");
      return;
    }
  }
  if (S_ISDIR(status.st_mode)) {
    folder(path, relative);
  } else if (S_ISREG(status.st_mode)) {
    if (auto file = inspect(path, relative))
      found_.push_back(std::move(*file));
    else
      warn("vanished", relative, "gone while the folder was read");
  } else {
    warn("not_a_file", relative, "neither a file nor a folder");
  }
}

}  // namespace

std::optional<Found> inspect(const fs::path& path, std::string relative) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  Found found;
  found.path = path;
  found.relative = std::move(relative);
  found.on_disk = on_disk_of(status);
  return found;
}

std::vector<Found> walk(const fs::path& root, std::size_t files_max,
                        std::vector<wire::Warning>& warnings) {
  Walker walker{root, files_max, warnings};
  walker.folder(root, "");
  return walker.finish();
}

}  // namespace l4::discover
