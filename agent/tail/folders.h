// The folders that hold logs: which of them are known, watched, and due to be scanned.
//
// Place in the flow: notices, polls and alarms -> here -> Scanner, which scans each dirty folder.
// Owns every Folder; a pointer to one holds until `erase`. A folder is watched before it is listed,
// so that no change falls between. Private to agent/tail; one thread. Bounds: as many folders as
// Options::files_max.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/tail/context.h"
#include "agent/tail/sources.h"
#include "agent/tail/watcher.h"

namespace l4::tail {

using Names = std::set<std::string, std::less<>>;

/// The result of the last probe of a file that belongs to no part.
struct Inspection {
  std::uint64_t inode = 0, bytes = 0;
  TimeMs modified{};
  bool decided = false, warned = false;
  Millis since{0}, retry{0}, backoff{0};
};

struct Folder {
  std::string path;
  int watch = -1;
  bool blind = false, dirty = false, warned = false, whole = false;
  bool writes = true;                       ///< notices of writes are on
  bool waiting = false;                     ///< a file may still become a copy of a part
  Millis rearm{0}, alarm{0};                ///< 0: none
  std::map<std::string, std::string> only;  ///< unless `whole`: the wanted logs, and their links
  std::unordered_map<std::string, LogPart*> parts;
  std::unordered_map<std::string, Inspection> inspections;
  std::vector<LogPart*> displaced;  ///< parts whose names this scan gave to other parts
  std::set<std::string> verified;   ///< logs that this scan has verified
  std::vector<std::uint64_t> hot;   ///< parts that are polled while `writes` is off
  std::size_t notices = 0;
  Names written;  ///< names with a notice of a write since the last flush
};

/// A file of a folder as a scan found it.
struct FolderEntry {
  std::string name;
  Status status;
  std::string base;  ///< name of its log
};

class Folders {
 public:
  Folders(Context& context, Sources sources, std::unique_ptr<Watcher> watcher);

  int fd() const { return watcher_->fd(); }
  const Sources& sources() const { return sources_; }
  bool read_notices();  ///< true if there were notices
  /// Looks for the roots; `which` 0 also marks all folders as dirty.
  void poll(std::uint64_t which);
  /// Handles a folder whose alarm is due.
  void folder_due(const std::string& path);
  /// Marks the folder of a path as dirty.
  void changed(const std::string& path);

  Folder* find(const std::string& path);
  Folder* folder_of(const std::string& path);  ///< the folder that a file lies in
  void mark_dirty(Folder& folder);
  bool any_dirty() const { return !dirty_.empty(); }
  /// The folder that has been dirty longest; null if it is gone or clean by now.
  Folder* next_dirty();
  void set_alarm(Folder& folder, Millis at);
  void watch(Folder& folder);
  /// Retries a folder that cannot be read now; its files may be unchanged.
  void retry_later(Folder& folder, int error);
  void erase(Folder& folder);

  /// The files among `names`; adds folders below, and what links lead to.
  std::vector<FolderEntry> list(Folder& folder, const std::vector<std::string>& names);
  /// Name of the log that a file belongs to, as far as file names tell; `names`: the files of its
  /// folder.
  std::string base_of(const std::string& folder, const std::string& name) const;
  std::string base_of(const std::string& folder, const std::string& name, const Names& names) const;
  bool wanted(const Folder& folder, const std::string& base, const std::string& name) const;

 private:
  Folder& folder_at(const std::string& path);
  void find_roots();
  void watch(Folder& folder, bool writes);
  void apply(const Notice& notice);
  void flush_notices(Folder& folder);
  void link(Folder& folder, const std::string& name);
  bool skips(const Folder& folder, std::string_view name) const;

  Context& context_;
  Sources sources_;
  std::unique_ptr<Watcher> watcher_;
  std::unordered_map<std::string, std::unique_ptr<Folder>> folders_;
  std::unordered_map<int, Folder*> watches_;
  std::set<std::string> missing_roots_;
  std::deque<std::string> dirty_;
  std::set<Folder*> noticed_;
  bool warned_limit_ = false, warned_overflow_ = false;
};

}  // namespace l4::tail
