// One process per state folder: a lock that the kernel lets go with its process.
//
// Taken before anything else in the folder is touched, held as long as the process uses it. The
// error names who holds it. flock(2), so a killed process leaves nothing behind; on file systems
// without it (old NFS) the error says so. Nothing is held open for writing: the file system can
// still be made read-only.
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
  /// `holder` is what others read who come too late: program and host, one line.
  static std::expected<FolderLock, Refusal> take(const std::filesystem::path& folder,
                                                 const std::string& holder);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int handle) : handle_(handle) {}
  int handle_;
};

}  // namespace l4
