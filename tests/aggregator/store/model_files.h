// A file system in memory that knows what is durable, fails on demand and loses its power.
//
// Contents are durable if they were synced, names if their folder was. A failed sync() loses its
// bytes for good, although the file can still be read with them, as in the kernel. power_cut()
// keeps a random part of everything that was not durable, drawn from a seed. Counts every call that
// can fail. One thread, except for the journal's own use.
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

/// Number of random runs in a test; L4_STORE_LIVES=N multiplies it.
std::uint64_t lives(std::uint64_t usual);

struct ModelInode {
  Bytes content;
  Bytes durable;
  bool lost = false;  ///< a sync failed: later bytes of this file never become durable
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

  /// The calls numbered [first, first + count) from now on fail. Reads are not counted.
  void fail(std::uint64_t first, std::uint64_t count);
  void fail_all() { fail(1, ~std::uint64_t{0} / 2); }
  void heal() { fail(0, 0); }
  std::uint64_t calls() const { return calls_; }
  /// Appends beyond this many bytes in total fail, with a part of them written.
  void set_room(std::uint64_t bytes) {
    const std::lock_guard guard(mutex_);
    room_ = bytes;
  }
  /// Makes all open files fail from now on.
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
