// All logs and parts, found by key, by file and by name.
//
// Place in the flow: the memory of the tailer. Owns every TailedLog and LogPart; pointers to them
// hold until they are erased here. One thread. Bounded by the number of files (Options::files_max)
// and of positions that were resumed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/tail/part.h"

namespace l4::tail {

/// Who has a device and inode: a part, or a copy of its text.
struct Holder {
  LogPart* part = nullptr;
  bool copy = false;
};

class LogTable {
 public:
  explicit LogTable(std::uint64_t seed);

  /// Made if there is none.
  TailedLog& log_of(const std::string& folder, const std::string& base);
  TailedLog* find_log(const std::string& folder, const std::string& base);
  TailedLog* find_log(LogId id);
  /// Parts of all logs that may have been one: X.log, and X.log.1 that was found without it.
  std::vector<LogPart*> relatives(const std::string& folder, const std::string& base) const;

  /// Behind the others of the log; with a key of its own unless `id` has one.
  LogPart& add(TailedLog& log, wire::FileId id, const std::string& path);
  LogPart* by_key(std::uint64_t key);
  Holder by_file(std::uint64_t device, std::uint64_t inode) const;

  /// Whose file it is from now on; what the part had before is no longer its own.
  void set_file(LogPart& part, std::uint64_t device, std::uint64_t inode);
  void drop_file(LogPart& part);
  void add_copy(LogPart& part, Copy copy);
  void drop_copy(std::uint64_t device, std::uint64_t inode);
  void set_key(LogPart& part, std::uint64_t key);
  void set_name(LogPart& part, const std::string& path);
  /// Right behind `part` in its log: the same file goes on as another part. Its key is the next
  /// number, so that positions tell which of the two has the file.
  LogPart& add_behind(LogPart& part);
  /// To another log, which is to be arranged then.
  void move(LogPart& part, TailedLog& log);
  /// Before those without a name that were written to later: names say nothing of their order.
  void insert_before_newer(LogPart& part);
  /// Oldest first, by the names that parts have now; those without stay before what followed them.
  void arrange(TailedLog& log);
  /// What follows under its name is another log: it gets a new id.
  void renumber(TailedLog& log);
  /// The log goes with its last part, unless the sink knows it still.
  void erase(LogPart& part);
  void erase_if_empty(TailedLog& log);

  void each(const std::function<void(LogPart&)>& visit);
  void each_log(const std::function<void(TailedLog&)>& visit);
  std::size_t parts() const { return parts_.size(); }
  std::size_t logs() const { return logs_.size(); }

 private:
  using FileKey = std::pair<std::uint64_t, std::uint64_t>;
  struct FileHash {
    std::size_t operator()(const FileKey& key) const;
  };
  std::uint64_t draw_key();

  std::mt19937_64 random_;
  std::uint32_t next_log_ = 1;
  std::unordered_map<std::uint64_t, std::unique_ptr<LogPart>> parts_;
  std::unordered_map<LogId, std::unique_ptr<TailedLog>> logs_;
  std::map<std::pair<std::string, std::string>, TailedLog*> names_;
  std::map<std::pair<std::string, std::string>, std::vector<TailedLog*>> families_;
  std::unordered_map<FileKey, Holder, FileHash> files_;
};

/// `/a/b` and `c` of `/a/b/c`.
std::pair<std::string, std::string> split_folder(std::string_view path);

}  // namespace l4::tail
