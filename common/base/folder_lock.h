// One process per state folder: the kernel releases the lock when its process ends.
//
// Taken before anything else in the folder is touched, held as long as the process uses it. The
// error names the holder. A holder that was killed and is about to end is waited for, a second at
// most. flock(2), so a killed process leaves nothing behind; on file systems without it (old NFS)
// the error says so. Nothing is held open for writing: the file system can still be made read-only.
#pragma once

#include <expected>
#include <filesystem>
#include <string>

#include "common/base/error.h"

namespace l4 {

class FolderLock {
 public:
  struct Refusal {
    Error error;
    bool in_use = false;  ///< another process has it; else it cannot be locked at all
  };
  /// `holder` names program and host in one line; a later process reads it.
  static std::expected<FolderLock, Refusal> take(const std::filesystem::path& folder,
                                                 const std::string& holder);

  /// Whether a process holds the lock of the folder now; false if there is no lock to be read.
  static bool is_held(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int handle) : handle_(handle) {}
  int handle_;
};

}  // namespace l4
