// Files that a test writes, rotates and deletes, on a played or a real disk, and the content of
// each: every written byte has a number of its own.
//
// World does to a Disk what it notes in its mirror. FakeDisk is also the tailer's FileSystem and
// Watcher: inodes are used again at once, deleted files live while they are open, notices can be
// lost.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/tail/file_system.h"
#include "agent/tail/watcher.h"

namespace l4::tail {

class Disk {
 public:
  virtual ~Disk() = default;
  virtual void append(const std::string& path, const std::string& bytes) = 0;  // creates it
  virtual void write_new(const std::string& path, const std::string& bytes) = 0;
  virtual void rename(const std::string& from, const std::string& to) = 0;
  virtual void cut(const std::string& path, std::size_t bytes) = 0;  // 0: truncated
  virtual void remove(const std::string& path) = 0;
  virtual void copy_time(const std::string& from, const std::string& to) = 0;
  virtual std::uint64_t inode(const std::string& path) = 0;
};

class FakeDisk final : public Disk, public FileSystem {
 public:
  struct Inode {
    std::uint64_t number = 0, links = 0;
    std::string bytes;
    TimeMs modified{};
  };

  void append(const std::string& path, const std::string& bytes) override;
  void write_new(const std::string& path, const std::string& bytes) override;
  void rename(const std::string& from, const std::string& to) override;
  void cut(const std::string& path, std::size_t bytes) override;
  void remove(const std::string& path) override;
  void copy_time(const std::string& from, const std::string& to) override {
    names_.at(to)->modified = names_.at(from)->modified;
  }
  std::uint64_t inode(const std::string& path) override { return names_.at(path)->number; }

  Outcome<std::vector<std::string>> list(const std::string& folder) override;
  Outcome<Status> status(const std::string& path, bool follow) override;
  Outcome<std::string> real_path(const std::string& path) override { return path; }
  Outcome<std::unique_ptr<File>> open(const std::string& path) override;
  bool blind(const std::string&) override { return network; }

  std::unique_ptr<Watcher> watcher();

  TimeMs now{};
  std::size_t open_files = 0, open_most = 1'000'000;
  bool lose_notices = false;           ///< drops notices of writes and names, without an overflow
  bool overflow = false;               ///< the next notice says that notices were lost
  bool network = false;                ///< writes of other hosts give no notice
  std::map<std::string, int> refused;  ///< paths, and the errno of every call on them
  int read_error = 0;                  ///< errno of reads of all files, if not 0
  /// Called before each look at the names, the size or the text of something: others write
  /// meanwhile.
  std::function<void()> meanwhile;
  struct Note {
    std::string name;
    bool written;
  };
  std::deque<Note> notes;

 private:
  int refusal(const std::string& path);
  std::shared_ptr<Inode> make(const std::string& path);
  void note(const std::string& path, bool written);

  std::map<std::string, std::shared_ptr<Inode>> names_;
  std::shared_ptr<std::set<std::uint64_t>> free_ = std::make_shared<std::set<std::uint64_t>>();
  std::uint64_t next_ = 100;
};

class RealDisk final : public Disk {
 public:
  void append(const std::string& path, const std::string& bytes) override;
  void write_new(const std::string& path, const std::string& bytes) override;
  void rename(const std::string& from, const std::string& to) override;
  void cut(const std::string& path, std::size_t bytes) override;
  void remove(const std::string& path) override;
  void copy_time(const std::string& from, const std::string& to) override;
  std::uint64_t inode(const std::string& path) override;
};

class World {
 public:
  struct Content {
    std::string text;
    std::vector<std::uint32_t> numbers;
  };
  World(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  bool has(const std::string& name) const { return names_.contains(name); }
  void append(const std::string& name, const std::string& text);
  void rename(const std::string& from, const std::string& to);
  void copy(const std::string& from, const std::string& to);
  void cut(const std::string& name, std::size_t bytes);
  void truncate(const std::string& name) { cut(name, 0); }
  void remove(const std::string& name);
  void pack(const std::string& from, const std::string& to);

  const Content& content(std::uint64_t inode) { return inodes_[inode]; }
  const std::set<std::string>& names() const { return names_; }
  const Content& of(const std::string& name) { return inodes_[disk_.inode(path(name))]; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::uint32_t written() const { return next_; }

 private:
  Disk& disk_;
  std::string folder_;
  std::set<std::string> names_;
  std::map<std::uint64_t, Content> inodes_;
  std::uint32_t next_ = 0;
};

}  // namespace l4::tail
