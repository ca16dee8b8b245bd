// Checkpoints: the saved bytes of named states, each with the number of the last record in it.
//
// Flow: the owner of a state saves it (job::save_job, OffsetTable::save) and writes the bytes here;
// after a restart load() returns the newest valid ones, and the journal is replayed from their
// number on. A file is written under another name, synced, renamed, the folder synced, and the file
// is read again and verified before the older one is removed: one valid file exists at any time. A
// damaged file is reported, counted and skipped in favour of an older one. The caller writes a
// checkpoint only when the journal is durable up to its number: otherwise a lost tail would count
// twice. An older checkpoint may stay for questions about the past while the journal still holds
// every later record; such older ones are evicted first when space is needed. Bounded in bytes. One
// thread writes; `states`, `read`, `bytes` and `past_bytes` are for any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/store/record.h"
#include "common/base/mutex.h"

namespace l4::store {

struct CheckpointOptions {
  std::uint64_t bytes_max = std::uint64_t{4} << 30U;  ///< bytes of all files together
  std::uint64_t one_bytes_max = std::uint64_t{1} << 30U;
  /// Older checkpoints that stay, see `write`: the time from one to the next, and their bytes.
  Millis past_every{300'000};
  std::uint64_t past_bytes_max = std::uint64_t{1} << 30U;
};

/// The records that the journal still holds.
struct Ring {
  Seq first, last;
};

/// A stored checkpoint, as its head describes it.
struct SavedState {
  Path path;
  Seq position;
  TimeMs time;
  std::uint64_t bytes = 0;
};

struct CheckpointHead {
  std::string name;
  Seq position;  ///< number of the last record in it
  Seq floor;     ///< when it was written, no state needed the journal up to here
  TimeMs time;
  bool closed = false;  ///< the state is over: its records up to `position` are void
};

struct Checkpoint {
  CheckpointHead head;
  Bytes bytes;
};

class Checkpoints {
 public:
  /// Reads names and heads. Unfinished files are removed; a file that is not a checkpoint is
  /// renamed to FILE.bad.
  static Result<Checkpoints> open(Files& files, const Path& folder, CheckpointOptions options);

  std::vector<std::string> names() const;
  struct Newest {
    Seq position;
    TimeMs time;
  };
  /// Position and time in the newest file of a name, which must be one of names().
  Newest newest(const std::string& name) const;
  /// The newest valid checkpoint of a name; empty if there is none.
  std::optional<Checkpoint> load(const std::string& name);

  /// After an error the former checkpoint of the name stays; checkpoints that stayed for the past
  /// may be gone. `ring`: older checkpoints of the name stay while the journal holds every later
  /// record, `past_every` or an eighth of the ring apart; without a ring none stays.
  Result<void> write(const CheckpointHead& head, std::span<const std::byte> bytes,
                     std::optional<Ring> ring = {});
  Result<void> remove(const std::string& name);
  /// Removes the names last written before `before` that are not needed; returns how many.
  std::size_t expire(TimeMs before, const std::function<bool(const std::string&)>& needed);

  /// The stored checkpoints of a name, oldest first. Any thread.
  std::vector<SavedState> states(const std::string& name) const;
  /// Any thread; the file may have been removed meanwhile.
  Result<Checkpoint> read(const Path& path) const;

  std::uint64_t bytes() const;
  std::uint64_t past_bytes() const;  ///< bytes of checkpoints that newer ones have replaced
  std::uint64_t damaged() const { return damaged_; }
  /// Errors in files since the last call; at most 16.
  std::vector<std::string> drain_trouble();

 private:
  Checkpoints(Files& files, Path folder, CheckpointOptions options)
      : files_(&files), folder_(std::move(folder)), options_(options) {}
  Result<void> write_file(const Path& path, const CheckpointHead& head,
                          std::span<const std::byte> bytes);
  Result<void> write_and_rename(const Path& path, const CheckpointHead& head,
                                std::span<const std::byte> bytes);
  void drop(std::vector<SavedState>& stored, const std::function<bool(std::size_t)>& goes)
      L4_REQUIRES(*mutex_);
  void thin(std::vector<SavedState>& stored, const Ring& ring) L4_REQUIRES(*mutex_);
  void evict_unreachable(const Ring& ring) L4_REQUIRES(*mutex_);
  bool drop_oldest() L4_REQUIRES(*mutex_);
  bool evict_past(std::uint64_t wanted) L4_REQUIRES(*mutex_);
  bool evict_all_past() L4_EXCLUDES(*mutex_);
  std::uint64_t count_past_bytes() const L4_REQUIRES(*mutex_);
  void add(SavedState made, const std::string& name) L4_EXCLUDES(*mutex_);
  void note_trouble(std::string text);

  Files* files_;
  Path folder_;
  CheckpointOptions options_;
  std::unique_ptr<Mutex> mutex_ = std::make_unique<Mutex>();
  /// Oldest first; an entry is never empty while the mutex is free.
  std::map<std::string, std::vector<SavedState>> stored_ L4_GUARDED_BY(*mutex_);
  std::uint64_t bytes_ L4_GUARDED_BY(*mutex_) = 0;
  std::uint64_t damaged_ = 0;
  std::vector<std::string> trouble_;
};

}  // namespace l4::store
