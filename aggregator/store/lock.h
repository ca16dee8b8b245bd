// One aggregator per state folder: a lock that the kernel lets go with its process.
//
// Taken before anything else in the folder is touched, held as long as the store lives. The error
// names who holds it. flock(2), so a killed process leaves nothing behind; on file systems without
// it (old NFS) the error says so.
#pragma once

#include <memory>
#include <string>

#include "aggregator/store/files.h"

namespace l4::store {

class FolderLock {
 public:
  /// `holder` is what others read who come too late: program and host, one line.
  static Result<FolderLock> take(const Path& folder, const std::string& holder);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int handle) : handle_(handle) {}
  int handle_;
};

}  // namespace l4::store
