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

/// The part that a file (device and inode) belongs to, or whose text the file copies.
struct Holder {
  LogPart* part = nullptr;
  bool copy = false;
};

class LogTable {
 public:
  explicit LogTable(std::uint64_t seed);

  /// The log with the name `base` in `folder`, made if there is none.
  TailedLog& log_of(const std::string& folder, const std::string& base);
  TailedLog* find_log(const std::string& folder, const std::string& base);
  TailedLog* find_log(LogId id);
  /// Parts of all logs that may be one log: X.log, and X.log.1 if it was found without X.log.
  std::vector<LogPart*> relatives(const std::string& folder, const std::string& base) const;

  /// Adds a part as the newest of the log; it gets a key of its own unless `id` has one.
  LogPart& add(TailedLog& log, wire::FileId id, const std::string& path);
  LogPart* by_key(std::uint64_t key);
  Holder by_file(std::uint64_t device, std::uint64_t inode) const;

  /// The part has this file from now on, and no longer the one before.
  void set_file(LogPart& part, std::uint64_t device, std::uint64_t inode);
  void drop_file(LogPart& part);
  void add_copy(LogPart& part, Copy copy);
  void drop_copy(std::uint64_t device, std::uint64_t inode);
  void set_key(LogPart& part, std::uint64_t key);
  void set_name(LogPart& part, const std::string& path);
  /// Adds a part right behind `part`: the same file goes on as another part. The key of the new
  /// part is the next number, so that positions tell which part has the file.
  LogPart& add_behind(LogPart& part);
  /// Moves a part to another log; `arrange` it afterwards.
  void move(LogPart& part, TailedLog& log);
  /// Moves a part before those that are newer: by name, or by time if they have no name.
  void insert_before_newer(LogPart& part);
  /// Sorts the parts by their names, oldest first. A part without a name stays before the part that
  /// followed it.
  void arrange(TailedLog& log);
  /// Gives the log a new id: what follows under its name is another log for the sink.
  void renumber(TailedLog& log);
  /// Erases a part, and with the last part its log, unless the sink still knows the log.
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
