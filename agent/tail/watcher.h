// Notice of changes in folders: inotify, or nothing at all.
//
// Place in the flow: wakes the tailer; what has changed is always looked up in the file system, so
// a notice too many or one that is late does no harm, and one that is missing is made good by the
// slow poll. One thread. `writes` can be turned off for a folder that is written to so often that
// polling is cheaper than a notice for each write.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "agent/tail/file_system.h"

namespace l4::tail {

struct Notice {
  int watch = -1;
  std::string_view name;  ///< in the folder; empty: the folder itself
  bool written = false;   ///< else: a name came, went or changed
  bool gone = false;      ///< the folder was deleted or moved; its watch has ended
  bool overflow = false;  ///< notices were lost: anything may have changed
};

class Watcher {
 public:
  virtual ~Watcher() = default;
  /// To wait on; -1: there are no notices.
  virtual int fd() const = 0;
  /// Begins to watch, or changes what is watched; the same folder gives the same number.
  virtual Outcome<int> watch(const std::string& folder, bool writes) = 0;
  virtual void unwatch(int watch) = 0;
  /// Gives what has been noticed; at most some 64 KiB of notices at once. True if there is more.
  virtual bool read(const std::function<void(const Notice&)>& take) = 0;
};

/// Error: errno, as when the user has too many instances.
Outcome<std::unique_ptr<Watcher>> make_inotify_watcher();
/// Notices nothing.
std::unique_ptr<Watcher> make_blind_watcher();

}  // namespace l4::tail
