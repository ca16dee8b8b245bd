// The private folder of a demo, and those that killed demos have left.
//
// Flow: Folder::make -> everything that the demo writes -> the destructor removes it. Mode 0700 and
// locked while its demo lives, so that a folder without a lock was left by a demo that was killed.
// It gets its name only when it is locked. One owner.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "common/base/error.h"
#include "common/base/folder_lock.h"

namespace l4::commands::demo {

class Folder {
 public:
  /// Below `base`. Error: there is no room, or no right to write.
  static Result<std::unique_ptr<Folder>> make(const std::filesystem::path& base);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Also without the destructor's silence. Error: something is left.
  Result<void> remove();

 private:
  Folder(std::filesystem::path path, FolderLock lock);

  std::filesystem::path path_;
  FolderLock lock_;
};

/// $TMPDIR, else /tmp.
Result<std::filesystem::path> base_of_folders();

/// Removes this user's folders below `base` whose demo is gone, and returns their names.
std::vector<std::filesystem::path> remove_abandoned(const std::filesystem::path& base);

}  // namespace l4::commands::demo
