// Notice of changes in folders: inotify, or nothing at all.
//
// Place in the flow: wakes the tailer, which looks up in the file system what has changed. So a
// superfluous or late notice does no harm, and the slow poll makes up for a missing one. One
// thread. `writes` can be turned off for a folder with so many writes that polling is cheaper.
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
  /// Descriptor to wait on; -1: there are no notices.
  virtual int fd() const = 0;
  /// Begins to watch a folder, or changes `writes` of it; the same folder gives the same number.
  virtual Outcome<int> watch(const std::string& folder, bool writes) = 0;
  virtual void unwatch(int watch) = 0;
  /// Gives the notices that wait, at most some 64 KiB of them. True if there are more.
  virtual bool read(const std::function<void(const Notice&)>& visit) = 0;
};

/// Error: errno, as when the user has too many instances.
Outcome<std::unique_ptr<Watcher>> make_inotify_watcher();
/// Gives no notices.
std::unique_ptr<Watcher> make_blind_watcher();

}  // namespace l4::tail
