// A file system in memory that knows what is durable, fails on demand and loses its power.
//
// Contents are durable as far as they were synced, names as far as their folder was. A sync() that
// fails loses what it should have written for good, although the file still reads well: what the
// kernel does. After power_cut() of what was not durable some is there and some is not, drawn from
// a seed. Counts every call that can fail. One thread, but for the journal's own use.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>

#include "aggregator/store/files.h"

namespace l4::store::test {

inline const Path kJournalFolder = "/state/journal";

/// How many random lives a test goes through; L4_STORE_LIVES=N: so many times more.
std::uint64_t lives(std::uint64_t usual);

struct ModelInode {
  Bytes content;
  Bytes durable;
  bool lost = false;  ///< a sync failed: nothing more of it becomes durable
};

class ModelFiles : public Files {
 public:
  explicit ModelFiles(std::uint64_t seed = 1) : random_(seed) {}

  Result<std::unique_ptr<File>> create(const Path& path) override;
  Result<std::unique_ptr<File>> open(const Path& path, bool writable) override;
  Result<void> rename(const Path& from, const Path& to) override;
  Result<void> remove(const Path& path) override;
  Result<void> make_folder(const Path& folder) override;
  Result<void> sync_folder(const Path& folder) override;
  Result<std::vector<std::string>> list(const Path& folder) override;

  /// The calls numbered [first, first + count) from now on fail. Reading does not count.
  void fail(std::uint64_t first, std::uint64_t count);
  void fail_all() { fail(1, ~std::uint64_t{0} / 2); }
  void heal() { fail(0, 0); }
  std::uint64_t calls() const { return calls_; }
  /// Appends beyond so many bytes in all fail, with a part of them written.
  void set_room(std::uint64_t bytes) {
    const std::lock_guard guard(mutex_);
    room_ = bytes;
  }
  /// All open files are of no use any more.
  void power_cut();

  Bytes& content(const Path& path) { return names_.at(path)->content; }
  bool has(const Path& path) const { return names_.contains(path); }

 private:
  friend class ModelFile;
  using Names = std::map<Path, std::shared_ptr<ModelInode>>;
  bool fails();
  std::uint64_t used() const;
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : random_() % bound; }

  std::recursive_mutex mutex_;
  std::mt19937_64 random_;
  Names names_, durable_names_;
  std::uint64_t calls_ = 0, fail_from_ = 0, fail_to_ = 0;
  std::uint64_t room_ = ~std::uint64_t{0};
};

}  // namespace l4::store::test
