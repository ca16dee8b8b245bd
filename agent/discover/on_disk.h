// Size, age and identity of a file in the file system.
//
// Plain values, noted when a file is found and compared when it is read: logs of a running job
// grow, rotate and vanish in between.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>

#include "common/base/time.h"

namespace l4::discover {

struct OnDisk {
  std::uint64_t bytes = 0;
  std::uint64_t device = 0, inode = 0;  ///< 0: not known
  std::optional<TimeMs> modified;       ///< none for a file time of 0
};

inline OnDisk on_disk_of(const struct stat& status) {
  OnDisk file;
  file.bytes = status.st_size > 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  file.device = status.st_dev;
  file.inode = status.st_ino;
  if (status.st_mtim.tv_sec > 0)
    file.modified = TimeMs{Millis{static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1000 +
                                  status.st_mtim.tv_nsec / 1'000'000}};
  return file;
}

}  // namespace l4::discover
